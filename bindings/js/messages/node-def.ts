/** NodeDef: a node of a GraphDef or of a function's body, whether or not the engine knows its op. */
import { AttrValue, decodeAttr } from './attr-value.js';
import { Kind, MessageOf, MessageType, RAW, TEXT, list, map } from './message-type.js';

/** A message that is not decoded, in a map: empty if it is absent. */
const BYTES: Kind<Uint8Array> = {
  write: (writer, number, value) => void writer.bytes(number, value),
  read: ({ bytes }) => bytes,
  absent: () => new Uint8Array(0),
};

export const NodeDef = new MessageType({
  name: [1, TEXT],
  op: [2, TEXT],
  /** Data inputs first, then control inputs, '^name'. */
  input: [3, list(TEXT)],
  device: [4, TEXT],
  /** Serialised AttrValues. */
  attr: [5, map(BYTES)],
  debugInfo: [6, RAW],
  fullType: [7, RAW],
});
export type NodeDef = MessageOf<typeof NodeDef>;

export const isControlInput = (input: string): boolean => input.startsWith('^');

/**
 * The node of an input, or of an output by its name: 'x' of 'x:1' and '^x'. In the body of a function outputs have
 * names: 'x' of 'x:sum:0'.
 */
export const nodeOfInput = (input: string): string => {
  const end = input.indexOf(':');
  return input.slice(isControlInput(input) ? 1 : 0, end < 0 ? undefined : end);
};

/** The attrs of a serialised NodeDef. */
export const decodeNodeAttrs = (nodeDef: Uint8Array): Record<string, AttrValue> =>
  Object.fromEntries(
    [...NodeDef.decode(nodeDef).attr]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, decodeAttr(value)]),
  );
