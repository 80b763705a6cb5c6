/** tf.checkCompatibility: what a GraphDef needs that this engine does not have. */
import { AttrValue, decodeAttr } from './attr-value.js';
import { DType } from './dtypes.js';
import { withGraphDef } from './import-graph.js';
import { decodeOpDef } from './op-def.js';
import { fieldsOf, textOf } from './protobuf.js';
import type { Runtime } from './runtime.js';

export interface Missing {
  op: string;
  /** The op is known, but it has no kernel for this dtype. */
  dtype?: DType;
  /** The nodes that need it; those in the body of a function as 'function/node'. */
  nodes: string[];
}

interface Node {
  readonly name: string;
  readonly op: string;
  /** Serialised attr values, by name. */
  readonly attrs: Map<string, Uint8Array>;
}

function decodeNode(bytes: Uint8Array, prefix: string): Node {
  let [name, op] = ['', ''];
  const attrs = new Map<string, Uint8Array>();
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) name = prefix + textOf(field);
    else if (field.number === 2) op = textOf(field);
    else if (field.number === 5) {
      const [key, value] = [...fieldsOf(field.bytes)].sort((a, b) => a.number - b.number);
      if (key && value) attrs.set(textOf(key), value.bytes);
    }
  }
  return { name, op, attrs };
}

/** The nodes of a GraphDef, those of its functions too, and the names of these. */
function decodeGraphDef(bytes: Uint8Array): { nodes: Node[]; functions: Set<string> } {
  const nodes: Node[] = [];
  const functions = new Set<string>();
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) nodes.push(decodeNode(field.bytes, ''));
    if (field.number !== 2) continue;
    for (const part of fieldsOf(field.bytes)) {
      if (part.number !== 1) continue;
      const parts = [...fieldsOf(part.bytes)];
      const signature = parts.find(({ number }) => number === 1);
      const name = signature ? decodeOpDef(signature.bytes).name : '';
      functions.add(name);
      for (const node of parts) if (node.number === 3) nodes.push(decodeNode(node.bytes, `${name}/`));
    }
  }
  return { nodes, functions };
}

/** The attrs that a kernel asks for, with the values that suit it. */
type Constraints = readonly { readonly attr: string; readonly allowed: readonly AttrValue[] }[];

/** The constraints of all kernels of an op. */
function kernelsOf({ wasm }: Runtime, op: string): Constraints[] {
  const buffer = wasm.scope((scope) => {
    const name = scope.string(op);
    return wasm.checked((status) => wasm.call.TF_GetRegisteredKernelsForOp!(name, status));
  });
  try {
    return [...fieldsOf(wasm.bytesOfBuffer(buffer))].map((kernel) =>
      [...fieldsOf(kernel.bytes)].filter(({ number }) => number === 3).map((constraint) => {
        const [attr, allowed] = [...fieldsOf(constraint.bytes)];
        return { attr: textOf(attr!), allowed: decodeAttr(allowed!.bytes) as AttrValue[] };
      }),
    );
  } finally {
    wasm.call.TF_DeleteBuffer!(buffer);
  }
}

export function findMissing(runtime: Runtime, graphDef: Uint8Array | string): Missing[] {
  const bytes = typeof graphDef === 'string' ? withGraphDef(runtime.wasm, graphDef, (buffer) => runtime.wasm.bytesOfBuffer(buffer)) : graphDef;
  const { nodes, functions } = decodeGraphDef(bytes);
  const missing = new Map<string, Missing>();
  const kernels = new Map<string, Constraints[]>();
  for (const node of nodes) {
    const note = (dtype?: DType): void => {
      const key = `${node.op} ${dtype}`;
      const entry = missing.get(key) ?? { op: node.op, ...(dtype && { dtype }), nodes: [] };
      entry.nodes.push(node.name);
      missing.set(key, entry);
    };
    const def = runtime.findOpDef(node.op);
    if (!def) {
      if (!functions.has(node.op)) note();
      continue;
    }
    if (!kernels.has(node.op)) kernels.set(node.op, kernelsOf(runtime, node.op));
    const valueOf = (name: string): AttrValue | undefined => {
      const given = node.attrs.get(name);
      return given ? decodeAttr(given) : def.attr.find((attr) => attr.name === name)?.default_value;
    };
    const fits = ({ attr, allowed }: Constraints[number]): boolean => {
      const value = valueOf(attr);
      /* A function's own type parameter may become anything. */
      return (typeof value === 'string' && value.startsWith('$')) || [value].flat().every((type) => allowed.includes(type!));
    };
    const known = kernels.get(node.op)!;
    if (known.some((constraints) => constraints.every(fits))) continue;
    const unfit = known[0]?.find((constraint) => !fits(constraint));
    note(unfit && ([valueOf(unfit.attr)].flat()[0] as DType | undefined));
  }
  return [...missing.values()];
}
