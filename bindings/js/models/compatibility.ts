/** tf.checkCompatibility: the parts of a GraphDef that this engine does not support. */
import { AttrValue } from '../messages/attr-value.js';
import { DType } from '../tensor/dtypes.js';
import { TFError } from '../base/errors.js';
import {
  GraphDefContent,
  GraphDefNode,
  attrOf,
  calledFunctions,
  functionsNamedBy,
  readGraphDef,
} from './graph-def-nodes.js';
import { Graph } from '../graph/graph.js';
import { Constraints, kernelsOf } from '../ops/kernel-types.js';
import type { OpDef } from '../messages/op-def.js';
import type { Runtime } from '../engine/runtime.js';

export interface Missing {
  /**
   * The name of an op that is unknown or has no kernel, or of a called function that is missing from the
   * library.
   */
  op: string;
  /** The op is known, but has no kernel for this dtype. */
  dtype?: DType;
  /** It is a function: an attr of the nodes names it. */
  function?: true;
  /** The nodes that need it; in the body of a function as 'function/node'. */
  nodes: string[];
}

/**
 * An attr that the op does not declare here, for example from a newer producer: it is kept and has no effect.
 */
export interface UnknownAttr {
  op: string;
  attr: string;
  /** The nodes with the attr; in the body of a function as 'function/node'. */
  nodes: string[];
}

/** The dtype for which the op has no kernel; undefined if one matches the node. */
function unfitType(node: GraphDefNode, def: OpDef, kernels: readonly Constraints[]): DType | undefined {
  const fits = ({ attr, allowed }: Constraints[number]): boolean => {
    const value = attrOf(node, attr, def);
    /* A type parameter of a function may become any type; a missing attr is reported by the import. */
    if (value === undefined || (typeof value === 'string' && value.startsWith('$'))) return true;
    return [value].flat().every((type) => allowed.includes(type as AttrValue));
  };
  if (kernels.some((constraints) => constraints.every(fits))) return undefined;
  const unfit = kernels[0]?.find((constraint) => !fits(constraint));
  if (!unfit) return undefined;
  const allowed = kernels.flatMap((kernel) =>
    kernel.filter(({ attr }) => attr === unfit.attr).flatMap((constraint) => constraint.allowed),
  );
  const types = [attrOf(node, unfit.attr, def)].flat() as DType[];
  return types.find((type) => !allowed.includes(type)) ?? types[0];
}

/** Names that begin with '_' are free for any use. */
export function findUnknownAttrsIn(runtime: Runtime, { nodes, functions }: GraphDefContent): UnknownAttr[] {
  const unknown = new Map<string, UnknownAttr>();
  for (const node of [...nodes, ...[...functions.values()].flatMap((body) => body.nodes)]) {
    const def = runtime.findOpDef(node.op);
    if (!def) continue;
    for (const attr of node.attr.keys()) {
      if (attr.startsWith('_') || def.attr.some(({ name }) => name === attr)) continue;
      const key = JSON.stringify([node.op, attr]);
      if (!unknown.has(key)) unknown.set(key, { op: node.op, attr, nodes: [] });
      unknown.get(key)!.nodes.push(node.name);
    }
  }
  return [...unknown.values()];
}

export interface MissingParts {
  /** What the graph needs, including the functions that it calls. */
  missing: Missing[];
  /**
   * What is needed only by functions that the graph never calls: the graph can be imported and run without
   * it, but a call of such a function fails.
   */
  uncalled: Missing[];
}

export interface Compatibility extends MissingParts {
  unknownAttrs: UnknownAttr[];
}

export function checkCompatibility(
  runtime: Runtime,
  graphDef: Uint8Array | ArrayBuffer | string,
): Compatibility {
  const content = readGraphDef(runtime.wasm, graphDef);
  const { missing, uncalled } = findMissingIn(runtime, content);
  if (missing.length === 0) tryImport(runtime, graphDef);
  return { missing, uncalled, unknownAttrs: findUnknownAttrsIn(runtime, content) };
}

/** Throws the errors of an import: a graph may have all ops and still be damaged. */
function tryImport(runtime: Runtime, graphDef: Uint8Array | ArrayBuffer | string): void {
  const graph = new Graph(runtime);
  try {
    graph.importGraphDef(graphDef);
  } finally {
    graph.dispose();
  }
}

export function findMissingIn(runtime: Runtime, content: GraphDefContent): MissingParts {
  const { nodes, functions } = content;
  const called = calledFunctions(content);
  const [needed, others] = [[...nodes], [] as GraphDefNode[]];
  for (const [name, body] of functions) (called.has(name) ? needed : others).push(...body.nodes);
  const kernels = new Map<string, Constraints[]>();
  return {
    missing: missingOf(runtime, needed, functions, kernels),
    uncalled: missingOf(runtime, others, functions, kernels),
  };
}

/** `kernels` caches the kernels of ops. */
function missingOf(
  runtime: Runtime,
  nodes: readonly GraphDefNode[],
  functions: GraphDefContent['functions'],
  kernels: Map<string, Constraints[]>,
): Missing[] {
  const missing = new Map<string, Missing>();
  const note = (node: GraphDefNode, what: Omit<Missing, 'nodes'>): void => {
    const key = JSON.stringify(what);
    if (!missing.has(key)) missing.set(key, { ...what, nodes: [] });
    missing.get(key)!.nodes.push(node.name);
  };
  const inspect = (node: GraphDefNode): void => {
    for (const name of new Set(functionsNamedBy(node))) {
      if (!functions.has(name) && !runtime.findOpDef(name)) note(node, { op: name, function: true });
    }
    const def = runtime.findOpDef(node.op);
    if (!def) {
      if (!functions.has(node.op)) note(node, { op: node.op });
      return;
    }
    if (!kernels.has(node.op)) kernels.set(node.op, kernelsOf(runtime, node.op));
    const known = kernels.get(node.op)!;
    const dtype = unfitType(node, def, known);
    if (known.length === 0) note(node, { op: node.op });
    else if (dtype !== undefined) note(node, { op: node.op, dtype });
  };
  for (const node of nodes) {
    try {
      inspect(node);
    } catch (error) {
      // Attrs that cannot be parsed: an import refuses them in the graph, but ignores them in functions that
      // are never called.
      if (!(error instanceof TFError)) throw error;
    }
  }
  return [...missing.values()];
}
