// Generates bindings/js/generated/graph-ops.ts: one typed method for each op of the registry. Reads the ops
// from the built wasm module.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { root } from './process.mjs';

/** Written by hand in graph-core.ts and graph.ts, because they do more than the plain op. */
const BY_HAND = new Set(['Const', 'Placeholder', 'Variable']);

/** What of the bindings' own code is needed here. */
const BINDINGS = `
  export { decodeOpList } from './messages/op-def.js';
  export { camelCase, lowerFirst } from './base/camel-case.js';
`;
const bindings = path.join(root, 'build/generate-ops/bindings.mjs');
await build({
  stdin: { contents: BINDINGS, resolveDir: path.join(root, 'bindings/js'), loader: 'ts' },
  outfile: bindings,
  bundle: true,
  format: 'esm',
  logLevel: 'error',
});
const { camelCase, decodeOpList, lowerFirst } = await import(bindings);

/** The ops of the built engine. */
async function readOps() {
  const { default: create } = await import(path.join(root, 'build/wasm-simd/tfcore-simd.mjs'));
  const wasmBinary = readFileSync(path.join(root, 'build/wasm-simd/tfcore-simd.wasm'));
  const module = await create({ wasmBinary });
  const buffer = module._TF_GetAllOpList();
  const [data, length] = module.HEAPU32.subarray(buffer >>> 2, (buffer >>> 2) + 2);
  return decodeOpList(module.HEAPU8.slice(data, data + length));
}

const RESERVED = new Set(['default', 'function', 'var', 'let', 'const', 'in', 'switch', 'new', 'this', 'o']);
const parameter = (name) => (RESERVED.has(camelCase(name)) ? `${camelCase(name)}_` : camelCase(name));
const isList = (arg) => arg.number_attr !== undefined || arg.type_list_attr !== undefined;

const ATTR_TYPES = {
  string: 'string',
  int: 'number | bigint',
  float: 'number',
  bool: 'boolean',
  type: 'DTypeName',
  shape: 'ShapeLike',
  tensor: 'TensorLike',
  func: 'string | FuncInput',
};
const attrType = (type) => {
  const list = /^list\((.*)\)$/.exec(type);
  return list ? `readonly (${ATTR_TYPES[list[1]]})[]` : ATTR_TYPES[type];
};

/** The type of an attr: a union if only some values are allowed. */
function typeOfAttr({ type, allowed_values: allowed }) {
  if (!Array.isArray(allowed)) return attrType(type);
  const union = allowed.map((value) => `'${value}'`).join(' | ');
  const of = { type: `DTypeName<${union}>`, string: union };
  const list = /^list\((.*)\)$/.exec(type);
  return list ? `readonly (${of[list[1]] ?? ATTR_TYPES[list[1]]})[]` : (of[type] ?? attrType(type));
}

const isTensor = (value) => value !== null && typeof value === 'object' && 'dtype' in value;
const show = (value) =>
  isTensor(value) ? String(value) : JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? Number(v) : v));

function describe(arg) {
  if (arg.type_list_attr) return `${arg.name}: ${arg.type_list_attr}`;
  return `${arg.name}: ${arg.number_attr ? `${arg.number_attr} * ` : ''}${arg.type ?? arg.type_attr}`;
}

/** The default of an attr. Ops that create floats have float32, as TensorFlow's Python functions do. */
const isFreeFloat = (attr) =>
  attr.name === 'dtype' &&
  attr.type === 'type' &&
  attr.default_value === undefined &&
  attr.allowed_values?.includes('float32');
const defaultOf = (attr) => (isFreeFloat(attr) ? 'float32' : attr.default_value);

/** The attrs that inputs do not determine. */
function optionsOf(op) {
  const inferred = new Set(
    op.input_arg.flatMap((arg) => [arg.type_attr, arg.number_attr, arg.type_list_attr]),
  );
  return op.attr.filter((attr) => !inferred.has(attr.name));
}

const needsOptions = (op) => optionsOf(op).some((attr) => defaultOf(attr) === undefined);

/** The type of the result of a method: the operation itself, its output, a tuple, or a list of variable length. */
function resultOf(outputs) {
  if (outputs.length === 0) return 'Operation';
  if (outputs.some(isList)) return 'Output[]';
  if (outputs.length === 1) return 'Output';
  return `[${outputs.map((arg) => `${parameter(arg.name)}: Output`).join(', ')}]`;
}

/** The form of the method, as addOpMethods describes it. */
function formOf(op) {
  const flags = `${needsOptions(op) ? 'r' : ''}${optionsOf(op).some(isFreeFloat) ? 'f' : ''}`;
  const result = { Operation: 'n', Output: 'o' }[resultOf(op.output_arg)] ?? 'l';
  return `${op.input_arg.length}${flags}${result}`;
}

/** The declaration of the method of one op. */
function method(op) {
  const parameters = op.input_arg.map(
    (arg) => `${parameter(arg.name)}: ${isList(arg) ? 'readonly Operand[]' : 'Operand'}`,
  );
  const fields = optionsOf(op).map((attr) => {
    const byDefault = defaultOf(attr);
    const notes = [
      byDefault === undefined ? '' : `Default ${show(byDefault)}.`,
      attr.allowed_values ? `One of ${attr.allowed_values.map(show).join(', ')}.` : '',
    ];
    const note = notes.filter(Boolean).join(' ');
    return `${note ? `/** ${note} */ ` : ''}${camelCase(attr.name)}${byDefault === undefined ? '' : '?'}: ${typeOfAttr(attr)};`;
  });
  const options = fields.length
    ? `OpOptions & {\n${fields.map((field) => `    ${field}`).join('\n')}\n  }`
    : 'OpOptions';
  const outputs = op.output_arg;
  const signature = `${op.name}(${op.input_arg.map(describe).join(', ')})${outputs.length ? ` -> (${outputs.map(describe).join(', ')})` : ''}`;
  return `  /** ${signature} */
  ${camelCase(op.name)}(${[...parameters, `o${needsOptions(op) ? '' : '?'}: ${options}`].join(', ')}): ${resultOf(outputs)};
`;
}

const ops = (await readOps()).filter((op) => !op.name.startsWith('_') && !BY_HAND.has(op.name));
const methods = ops.map(method).join('\n');
/** The attr types that some op uses, because an unused import is an error. */
const importUsed = (names, from) => {
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(methods));
  return used.length ? `import type { ${used.join(', ')} } from '${from}';\n` : '';
};
/** The names of ops by the forms of their methods, as addOpMethods of bindings/js/graph/op-options.ts reads them. */
const names = {};
for (const op of ops) {
  const method = camelCase(op.name);
  (names[formOf(op)] ??= []).push(method === lowerFirst(op.name) ? op.name : `${op.name}:${method}`);
}
const table = Object.entries(names).map(([form, list]) => `  '${form}': '${list.join(' ')}',\n`);

const text = `/** The ops of the registry as methods. Made by tools/generate-ops.mjs; not edited. */
${importUsed(['FuncInput'], '../messages/attr-value.js')}${importUsed(['ShapeLike'], '../messages/tensor-proto.js')}${importUsed(['DTypeName'], '../tensor/dtypes.js')}import { GraphCore, type OpOptions } from '../graph/graph-core.js';
import type { Operand } from '../graph/op-inputs.js';
import type { Operation, Output } from '../graph/operation.js';
import { addOpMethods } from '../graph/op-options.js';
${importUsed(['TensorLike'], '../tensor/tensor.js')}
export interface GraphOps {
${methods}}

export abstract class GraphOps extends GraphCore {}

addOpMethods(GraphOps.prototype, {
${table.join('')}});
`;
const folder = path.join(root, 'bindings/js/generated');
mkdirSync(folder, { recursive: true });
writeFileSync(path.join(folder, 'graph-ops.ts'), text);
