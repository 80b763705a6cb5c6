/**
 * Replaces handles of variables by their values: what was passed on as a handle is passed on as a value, also into
 * functions, whose arguments change their types.
 */
import { AttrValue, FuncAttr, decodeAttr, encodeAttr } from '../messages/attr-value.js';
import { NodeDef, isControlInput, nodeOfInput } from '../messages/node-def.js';
import { Field, MessageWriter, fieldsOf, intOf, textOf } from '../messages/protobuf.js';
import { DType, dtypeNumber } from '../tensor/dtypes.js';
import { tensor } from '../tensor/convert.js';

/** What is known of the value in place of a handle. */
export interface FrozenVariable {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** Frozen variables by the nodes, or the arguments of a function, that were handles. */
export type Handles = ReadonlyMap<string, FrozenVariable>;

/** Ops that pass on their first input, whose type is attr T. */
const PASSING: ReadonlySet<string> = new Set([
  'Identity',
  'Enter',
  'Exit',
  'NextIteration',
  'Switch',
  'Merge',
]);
const WHILE: ReadonlySet<string> = new Set(['While', 'StatelessWhile', '_While']);

/** Of ops that call functions: the attr with the types of the arguments, and how many inputs come before these. */
const CALLS: Readonly<Record<string, readonly [types: string, before: number]>> = {
  PartitionedCall: ['Tin', 0],
  StatefulPartitionedCall: ['Tin', 0],
  If: ['Tin', 1],
  StatelessIf: ['Tin', 1],
  _If: ['Tin', 1],
  Case: ['Tin', 1],
  StatelessCase: ['Tin', 1],
  While: ['T', 0],
  StatelessWhile: ['T', 0],
  _While: ['T', 0],
};

const typeAttr = (dtype: DType): Uint8Array => encodeAttr('type', dtype);
const outputIndex = (input: string): number => Number(/:(\d+)$/.exec(input)?.[1] ?? 0);

/** Whether a tensor is a handle: undefined if not. */
type Resolve = (input: string) => FrozenVariable | undefined;

/** Follows handles through the nodes that pass them on. */
function resolverOf(nodes: readonly NodeDef[], handles: Handles): Resolve {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const known = new Map<string, FrozenVariable | undefined>();
  const resolve: Resolve = (input) => {
    const name = nodeOfInput(input);
    const handle = handles.get(name);
    const node = byName.get(name);
    if (handle || !node) return handle;
    const isLoop = WHILE.has(node.op);
    const from = node.input[isLoop ? outputIndex(input) : 0];
    if (from === undefined || !(isLoop || PASSING.has(node.op))) return undefined;
    const key = isLoop ? `${name}:${outputIndex(input)}` : name;
    if (!known.has(key)) {
      known.set(key, undefined); // for damaged graphs, in which nodes pass on to each other in a circle
      known.set(key, resolve(from));
    }
    return known.get(key);
  };
  return resolve;
}

export class NodeFreezer {
  /** The functions that were made, by the original and the arguments that are values. */
  readonly #made = new Map<string, string>();
  /** All functions: the originals, and those that were made. */
  readonly functions: Map<string, Uint8Array>;

  /** `refuse` throws: the node does more with the variable than read it. */
  constructor(
    functions: ReadonlyMap<string, Uint8Array>,
    private readonly refuse: (node: NodeDef, variable: FrozenVariable) => never,
  ) {
    this.functions = new Map(functions);
  }

  /** The nodes of a graph; those that were handles are left out. */
  freeze(nodes: readonly NodeDef[], handles: Handles): Partial<NodeDef>[] {
    const resolve = resolverOf(nodes, handles);
    const others = nodes.filter(({ name }) => !handles.has(name));
    return others.flatMap((node) => this.#freezeNode(node, resolve, (name) => name));
  }

  /** `outputOf` makes the name of a node that of its output. */
  #freezeNode(node: NodeDef, resolve: Resolve, outputOf: (name: string) => string): Partial<NodeDef>[] {
    const values = node.input.map((input) => (isControlInput(input) ? undefined : resolve(input)));
    const [first] = values;
    const taken = values.find((value) => value !== undefined);
    if (!taken) return [node];
    const changed = (op: string, attrs: Record<string, Uint8Array | undefined>): NodeDef => {
      const attr = new Map([...node.attr].filter(([name]) => name !== '_output_shapes'));
      for (const [name, value] of Object.entries(attrs)) value ? attr.set(name, value) : attr.delete(name);
      return { ...node, op, attr, fullType: undefined };
    };
    if (CALLS[node.op] || this.functions.has(node.op)) return [this.#freezeCall(node, values, changed)];
    if (!first) return this.refuse(node, taken);
    const type = typeAttr(first.dtype);
    if (PASSING.has(node.op)) return [changed(node.op, { T: type })];
    switch (node.op) {
      case 'ReadVariableOp':
        return [changed('Identity', { T: type, dtype: undefined })];
      case 'VariableShape':
        return [changed('Shape', { T: type })];
      case 'ResourceGather':
        return gatherNodes(
          changed('GatherV2', { Tparams: type, dtype: undefined, validate_indices: undefined }),
          outputOf,
        );
      case 'ResourceGatherNd':
        return [changed('GatherNd', { Tparams: type, dtype: undefined })];
      default:
        return this.refuse(node, first);
    }
  }

  #freezeCall(
    node: NodeDef,
    values: readonly (FrozenVariable | undefined)[],
    changed: (op: string, attrs: Record<string, Uint8Array>) => NodeDef,
  ): NodeDef {
    const [types, before] = CALLS[node.op] ?? [undefined, 0];
    if (types === undefined) return changed(this.#function(node.op, values), {});
    const args = values.slice(before);
    const replaced: Record<string, Uint8Array> = {};
    for (const [name, bytes] of node.attr) {
      const value = decodeFunctions(bytes);
      if (Array.isArray(value))
        replaced[name] = encodeAttr(
          'list(func)',
          value.map((one) => this.#named(one, args)),
        );
      else if (value) replaced[name] = encodeAttr('func', this.#named(value, args));
    }
    const typesBefore = decodeAttr(node.attr.get(types)!) as AttrValue[];
    replaced[types] = encodeAttr(
      'list(type)',
      typesBefore.map((type, i) => args[i]?.dtype ?? type),
    );
    const shapes = node.attr.get('output_shapes');
    if (shapes && WHILE.has(node.op))
      replaced.output_shapes = encodeAttr(
        'list(shape)',
        (decodeAttr(shapes) as AttrValue[]).map((shape, i) => args[i]?.shape ?? shape),
      );
    return changed(node.op, replaced);
  }

  #named(func: FuncAttr, args: readonly (FrozenVariable | undefined)[]): FuncAttr {
    return { ...func, name: this.#function(func.name, args) };
  }

  /** The name of the function that takes values in place of some handles. */
  #function(name: string, args: readonly (FrozenVariable | undefined)[]): string {
    const def = this.functions.get(name);
    if (!def) return name;
    const key = JSON.stringify([name, args.map((arg) => arg && [arg.dtype, arg.shape])]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    let made = `${name}_frozen`;
    for (let i = 1; this.functions.has(made); i++) made = `${name}_frozen_${i}`;
    this.#made.set(key, made);
    this.functions.set(made, def); // reserves the name
    this.functions.set(made, this.#freezeFunction(def, made, args));
    return made;
  }

  #freezeFunction(def: Uint8Array, name: string, args: readonly (FrozenVariable | undefined)[]): Uint8Array {
    const fields = [...fieldsOf(def)];
    const signature = [...fieldsOf(fields.find(({ number }) => number === FUNCTION.signature)!.bytes)];
    const handles = new Map<string, FrozenVariable>();
    signature
      .filter(({ number }) => number === SIGNATURE.input)
      .forEach((arg, i) => args[i] && handles.set(argName(arg), args[i]));
    const nodes = fields
      .filter(({ number }) => number === FUNCTION.node)
      .map(({ bytes }) => NodeDef.decode(bytes));
    const resolve = resolverOf(nodes, handles);
    const reads = new Set(
      nodes.filter(({ op, input }) => op === 'ReadVariableOp' && resolve(input[0]!)).map((node) => node.name),
    );
    /* In bodies outputs have names, and Identity's output has another one than ReadVariableOp's. */
    const renamed = (input: string): string =>
      reads.has(nodeOfInput(input)) ? input.replace(/:value(:\d+)?$/, ':output$1') : input;
    const results = new Map(
      fields.filter(({ number }) => number === FUNCTION.ret).map(({ bytes }) => pairOf(bytes)),
    );
    const writer = new MessageWriter();
    writer.message(FUNCTION.signature, () => {
      for (const field of signature) {
        const { number } = field;
        const isArg = number === SIGNATURE.input || number === SIGNATURE.output;
        const arg = isArg ? argName(field) : '';
        const value = number === SIGNATURE.input ? handles.get(arg) : resolve(results.get(arg) ?? '');
        if (number === SIGNATURE.name) writer.bytes(number, name);
        else if (isArg && value)
          writer.message(number, () => writer.bytes(1, arg).varint(3, dtypeNumber(value.dtype)));
        else writer.raw(field);
      }
    });
    const frozen = nodes.flatMap((node) => this.#freezeNode(node, resolve, (made) => `${made}:output:0`));
    for (const node of frozen)
      writer.bytes(FUNCTION.node, NodeDef.encode({ ...node, input: node.input?.map(renamed) ?? [] }));
    for (const [result, tensor] of results)
      writer.message(FUNCTION.ret, () => writer.bytes(1, result).bytes(2, renamed(tensor)));
    for (const field of fields) if (isKept(field, args)) writer.raw(field);
    return writer.finish();
  }
}

const FUNCTION = { signature: 1, node: 3, ret: 4, attr: 5, argAttr: 7, argIds: 8 } as const;
const SIGNATURE = { name: 1, input: 2, output: 3 } as const;

const argName = ({ bytes }: Field): string => {
  const name = [...fieldsOf(bytes)].find(({ number }) => number === 1);
  return name ? textOf(name) : '';
};

function pairOf(entry: Uint8Array): [string, string] {
  let [key, value] = ['', ''];
  for (const field of fieldsOf(entry)) {
    if (field.number === 1) key = textOf(field);
    else if (field.number === 2) value = textOf(field);
  }
  return [key, value];
}

/** Whether a field of a FunctionDef stays as it is: shapes of arguments are those of the handles. */
function isKept(field: Field, args: readonly (FrozenVariable | undefined)[]): boolean {
  const { number, bytes } = field;
  const written: readonly number[] = [FUNCTION.signature, FUNCTION.node, FUNCTION.ret, FUNCTION.argIds];
  if (written.includes(number)) return false;
  if (number === FUNCTION.attr) return pairOf(bytes)[0] !== '_input_shapes';
  if (number !== FUNCTION.argAttr) return true;
  const index = [...fieldsOf(bytes)].find((part) => part.number === 1);
  return !args[index ? intOf(index) : 0];
}

/** The functions that an attr names; undefined if it names none. */
function decodeFunctions(bytes: Uint8Array): FuncAttr | FuncAttr[] | undefined {
  const [field] = fieldsOf(bytes);
  if (field?.number === 10) return decodeAttr(bytes) as FuncAttr;
  if (field?.number !== 1) return undefined;
  const [item] = fieldsOf(field.bytes);
  return item?.number === 9 ? (decodeAttr(bytes) as FuncAttr[]) : undefined;
}

/** GatherV2 takes the axis as an input, where ResourceGather has the batch dimensions. */
function gatherNodes(gather: NodeDef, outputOf: (name: string) => string): Partial<NodeDef>[] {
  const dims = gather.attr.get('batch_dims');
  const axis = `${gather.name}/axis`;
  const [values, indices, ...controls] = gather.input;
  const attr = new Map([...gather.attr, ['Taxis', typeAttr('int32')]]);
  return [
    {
      name: axis,
      op: 'Const',
      device: gather.device,
      attr: new Map([
        ['dtype', typeAttr('int32')],
        ['value', encodeAttr('tensor', tensor(dims ? Number(decodeAttr(dims)) : 0, [], 'int32'))],
      ]),
    },
    { ...gather, attr, input: [values!, indices!, outputOf(axis), ...controls] },
  ];
}
