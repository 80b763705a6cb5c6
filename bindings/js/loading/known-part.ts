/** The part of a GraphDef whose ops the engine has. */
import { NodeDef, nodeOfInput } from '../messages/node-def.js';
import { MessageWriter, fieldsOf } from '../messages/protobuf.js';
import { GraphDefContent, GraphDefNode, functionsNamedBy, readGraphDef } from '../models/graph-def-nodes.js';
import type { EngineBytes } from '../engine/engine-bytes.js';
import { MAIN_PART } from '../engine/engine-part.js';
import type { Runtime } from '../engine/runtime.js';

export interface KnownPart {
  readonly graphDef: Uint8Array | EngineBytes;
  /** The nodes that were left out, because they or what they need are of unknown ops. */
  readonly omitted: ReadonlySet<string>;
  /** The unknown ops, with the nodes of each. */
  readonly unknownOps: ReadonlyMap<string, readonly string[]>;
}

/** Loads the parts of the engine with its ops. Leaves out the nodes of unknown ops, those that call functions with such nodes, and what needs them. */
export async function knownPart(runtime: Runtime, graphDef: EngineBytes): Promise<KnownPart> {
  const parts = runtime.wasm.call.TF_WasmPartsOfGraphDef(graphDef.begin, graphDef.length);
  await runtime.parts.load(parts);
  return parts & (1 << MAIN_PART)
    ? withoutUnknownOps(runtime, graphDef.copy())
    : { graphDef, omitted: new Set(), unknownOps: new Map() };
}

function withoutUnknownOps(runtime: Runtime, graphDef: Uint8Array): KnownPart {
  const content = readGraphDef(runtime.wasm, graphDef);
  const unknownOps = new Map<string, string[]>();
  const inFunctions = unknownInFunctions(runtime, content);
  const consumers = new Map<string, string[]>();
  for (const node of content.nodes) {
    for (const op of unknownIn(runtime, content, inFunctions, node)) append(unknownOps, op, node.name);
    for (const input of node.input) append(consumers, nodeOfInput(input), node.name);
  }
  if (unknownOps.size === 0) return { graphDef, omitted: new Set(), unknownOps };
  const omitted = new Set([...unknownOps.values()].flat());
  for (const name of omitted) for (const consumer of consumers.get(name) ?? []) omitted.add(consumer); // grows
  return { graphDef: without(graphDef, omitted), omitted, unknownOps };
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** The unknown ops that a node needs: its own, or those of the functions that it calls. */
function unknownIn(
  runtime: Runtime,
  { functions }: GraphDefContent,
  inFunctions: ReadonlyMap<string, ReadonlySet<string>>,
  node: GraphDefNode,
): Set<string> {
  const unknown = new Set<string>();
  if (!functions.has(node.op) && !runtime.findOpDef(node.op)) unknown.add(node.op);
  for (const name of [node.op, ...functionsNamedBy(node)])
    for (const op of inFunctions.get(name) ?? []) unknown.add(op);
  return unknown;
}

/** The unknown ops that each function needs, for functions that need some. */
function unknownInFunctions(runtime: Runtime, content: GraphDefContent): Map<string, Set<string>> {
  const needs = new Map<string, Set<string>>();
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, body] of content.functions) {
      const known = needs.get(name) ?? new Set();
      const before = known.size;
      for (const node of body.nodes) for (const op of unknownIn(runtime, content, needs, node)) known.add(op);
      if (known.size > before) {
        needs.set(name, known);
        changed = true;
      }
    }
  }
  return needs;
}

function without(graphDef: Uint8Array, omitted: ReadonlySet<string>): Uint8Array {
  const writer = new MessageWriter();
  for (const field of fieldsOf(graphDef))
    if (field.number !== 1 || !omitted.has(NodeDef.decode(field.bytes).name)) writer.raw(field);
  return writer.finish();
}
