/** Reads a GraphDef's nodes from its bytes, whether or not the engine knows their ops. */
import { AttrValue, FuncAttr, decodeAttr } from '../messages/attr-value.js';
import { TFError } from '../base/errors.js';
import { binaryGraphDef } from '../graph/import-graph.js';
import { NodeDef } from '../messages/node-def.js';
import type { OpDef } from '../messages/op-def.js';
import { fieldsOf, intOf, textOf } from '../messages/protobuf.js';
import type { Wasm } from '../engine/wasm.js';

/** In the body of a function, its name is 'function/node'. */
export type GraphDefNode = NodeDef;

export interface GraphDefFunction {
  readonly name: string;
  readonly nodes: readonly GraphDefNode[];
}

export interface GraphDefContent {
  readonly nodes: readonly GraphDefNode[];
  readonly functions: ReadonlyMap<string, GraphDefFunction>;
  /** The functions that are gradients, by the functions that they belong to. */
  readonly gradients: ReadonlyMap<string, string>;
  /** The producer version of the GraphDef; 0 if it has none. */
  readonly producer: number;
}

function decodeNode(bytes: Uint8Array, prefix: string): GraphDefNode {
  const node = NodeDef.decode(bytes);
  return prefix === '' ? node : { ...node, name: prefix + node.name };
}

function decodeFunction(bytes: Uint8Array): GraphDefFunction {
  const parts = [...fieldsOf(bytes)];
  const signature = parts.find(({ number }) => number === 1)?.bytes ?? new Uint8Array(0);
  const named = [...fieldsOf(signature)].find(({ number }) => number === 1);
  const name = named ? textOf(named) : '';
  return {
    name,
    nodes: parts.filter(({ number }) => number === 3).map((node) => decodeNode(node.bytes, `${name}/`)),
  };
}

/** From bytes, or from protobuf text. */
export function readGraphDef(wasm: Wasm, graphDef: Uint8Array | ArrayBuffer | string): GraphDefContent {
  const bytes = binaryGraphDef(wasm, graphDef);
  const nodes: GraphDefNode[] = [];
  const functions = new Map<string, GraphDefFunction>();
  const gradients = new Map<string, string>();
  let producer = 0;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) nodes.push(decodeNode(field.bytes, ''));
    else if (field.number === 4)
      for (const part of fieldsOf(field.bytes)) producer = part.number === 1 ? intOf(part) : producer;
    if (field.number !== 2) continue;
    for (const part of fieldsOf(field.bytes)) {
      if (part.number === 1) {
        const made = decodeFunction(part.bytes);
        functions.set(made.name, made);
      } else if (part.number === 2) {
        const [name, gradient] = [...fieldsOf(part.bytes)].sort((a, b) => a.number - b.number);
        if (name && gradient) gradients.set(textOf(name), textOf(gradient));
      }
    }
  }
  return { nodes, functions, gradients, producer };
}

/**
 * The functions that the graph reaches: those that its nodes call or name, those that these reach, and the
 * gradients of all of them.
 */
export function calledFunctions({ nodes, functions, gradients }: GraphDefContent): ReadonlySet<string> {
  const called = new Set<string>();
  const visit = (node: GraphDefNode): void => {
    for (const name of [node.op, ...namesIn(node)]) if (functions.has(name)) called.add(name);
  };
  nodes.forEach(visit);
  for (const name of called) {
    // the set grows during the loop
    functions.get(name)?.nodes.forEach(visit);
    const gradient = gradients.get(name);
    if (gradient !== undefined) called.add(gradient);
  }
  return called;
}

/**
 * An attr that cannot be parsed names no functions: an import refuses it in the graph, but ignores it in
 * functions that are never called.
 */
function namesIn(node: GraphDefNode): string[] {
  try {
    return functionsNamedBy(node);
  } catch (error) {
    if (error instanceof TFError) return [];
    throw error;
  }
}

/** The value of a node's attr: as given, else the op's default. */
export function attrOf(node: GraphDefNode, name: string, def?: OpDef): AttrValue | undefined {
  const given = node.attr.get(name);
  return given ? decodeAttr(given) : def?.attr.find((attr) => attr.name === name)?.default_value;
}

/** The functions that a node's attrs name, including those in attrs of functions. */
export function functionsNamedBy(node: GraphDefNode): string[] {
  const names: string[] = [];
  const visit = (value: AttrValue | undefined, depth: number): void => {
    if (Array.isArray(value)) for (const item of value) visit(item as AttrValue, depth);
    else if (isFunction(value) && depth < 32) {
      names.push(value.name);
      for (const inner of Object.values(value.attrs ?? {})) visit(inner, depth + 1);
    }
  };
  for (const bytes of node.attr.values()) if (mayNameFunctions(bytes)) visit(decodeAttr(bytes), 0);
  return names;
}

const isFunction = (value: unknown): value is FuncAttr =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !('dtype' in value) &&
  typeof (value as FuncAttr).name === 'string';

/** Tensors are large and contain no functions: only a function (field 10) or a list (field 1) is decoded. */
const mayNameFunctions = (bytes: Uint8Array): boolean =>
  bytes.length > 0 && (bytes[0]! >> 3 === 10 || bytes[0]! >> 3 === 1);
