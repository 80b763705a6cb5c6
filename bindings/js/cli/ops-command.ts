/** `tfcore-wasm ops`: the registry as a table, and the full definition of one op. */
import type { AttrValue } from '../messages/attr-value.js';
import { didYouMean } from '../base/did-you-mean.js';
import { init } from '../init.js';
import { kernelsOf } from '../ops/kernel-types.js';
import type { ArgDef, AttrDef, OpDef } from '../messages/op-def.js';
import { TF, runtimeOf } from '../tf.js';
import { columns } from '../base/columns.js';
import { Command, CommandError, plural } from './command-line.js';

/** 'yes'; 'none': no gradient flows by definition; 'missing': a gradient is possible but not registered. */
type Gradient = 'yes' | 'none' | 'missing';

interface OpRow {
  readonly name: string;
  /** The types of the op's kernels: values of the attr `typeAttr`. Empty if there is no choice. */
  readonly dtypes: readonly string[];
  readonly typeAttr?: string;
  readonly gradient: Gradient;
}

const SHORT: Readonly<Record<string, string>> = {
  float16: 'f16',
  bfloat16: 'bf16',
  float32: 'f32',
  float64: 'f64',
  int8: 'i8',
  int16: 'i16',
  int32: 'i32',
  int64: 'i64',
  uint8: 'u8',
  uint16: 'u16',
  uint32: 'u32',
  uint64: 'u64',
  complex64: 'c64',
  complex128: 'c128',
};
const ORDER = [...Object.keys(SHORT), 'bool', 'string', 'resource', 'variant'];
const rank = (dtype: string): number => (ORDER.includes(dtype) ? ORDER.indexOf(dtype) : ORDER.length);
const short = (dtype: string): string => SHORT[dtype] ?? dtype;

/** The allowed values of a type attr; undefined: any. */
const allowedOf = (attr: AttrDef | undefined): string[] | undefined =>
  attr?.allowed_values as string[] | undefined;

/** Whether the op can have differentiable outputs. */
function yieldsFloats(def: OpDef): boolean {
  const isFloat = (dtype: string): boolean => /^(b?float|complex)/.test(dtype);
  return def.output_arg.some(({ type, type_attr, type_list_attr }) => {
    if (type !== undefined) return isFloat(type);
    return (
      allowedOf(def.attr.find(({ name }) => name === (type_attr ?? type_list_attr)))?.some(isFloat) ?? true
    );
  });
}

function rowOf(tf: TF, def: OpDef): OpRow {
  const runtime = runtimeOf(tf);
  const known = runtime.wasm.call.TF_WasmOpGradient(runtime.constantText(def.name));
  const gradient = known === 1 ? 'yes' : known === 0 || !yieldsFloats(def) ? 'none' : 'missing';
  const kernels = kernelsOf(runtime, def.name);
  const constraints = kernels.flat();
  const typeAttr = constraints[0]?.attr ?? def.attr.find(({ type }) => type === 'type')?.name;
  if (typeAttr === undefined) return { name: def.name, dtypes: [], gradient };
  const anyType = kernels.some((kernel) => kernel.length === 0);
  const allowed = allowedOf(def.attr.find(({ name }) => name === typeAttr));
  const listed = constraints.flatMap((constraint) => constraint.allowed as string[]);
  const dtypes = anyType ? (allowed ?? ['any']) : [...new Set(listed)];
  return { name: def.name, typeAttr, dtypes: [...dtypes].sort((a, b) => rank(a) - rank(b)), gradient };
}

function printTable(rows: readonly OpRow[]): string {
  const count = (gradient: Gradient): number => rows.filter((row) => row.gradient === gradient).length;
  /* The attr is named if it is not the element type. */
  const list = ({ dtypes, typeAttr }: OpRow): string =>
    (/^(T|dtype|Tout|)$/.test(typeAttr ?? '') ? '' : `${typeAttr}: `) + (dtypes.map(short).join(' ') || '-');
  const cells = rows.map((row) => [row.name, row.gradient, list(row)]);
  return [
    columns([['op', 'gradient', 'dtypes'], ...cells]),
    `\n${plural(rows.length, 'op')}: ${count('yes')} with a gradient, ${count('none')} through which none flows, ${count('missing')} without one.\n`,
  ].join('');
}

function argText({ name, type, type_attr, type_list_attr, number_attr, is_ref }: ArgDef): string {
  const element = type === undefined ? (type_attr ?? type_list_attr!) : short(type);
  return `${name}: ${is_ref ? 'ref ' : ''}${number_attr ? `${number_attr} * ` : ''}${element}`;
}

function valueText(value: AttrValue): string {
  if (typeof value === 'object' && value !== null && 'dtype' in value) return String(value);
  return typeof value === 'string'
    ? value in SHORT
      ? short(value)
      : JSON.stringify(value)
    : JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? Number(item) : item));
}

function attrRow(attr: AttrDef): string[] {
  const allowed = allowedOf(attr)?.map((value) =>
    attr.type.includes('type') ? short(value) : JSON.stringify(value),
  );
  const facts = [
    ...(allowed ? [`one of ${allowed.join(' ')}`] : []),
    ...(attr.has_minimum ? [`at least ${attr.minimum}`] : []),
    ...(attr.default_value === undefined ? [] : [`default ${valueText(attr.default_value)}`]),
  ];
  return [attr.name, attr.type, facts.join('; ')];
}

const GRADIENTS: Readonly<Record<Gradient, string>> = {
  yes: 'yes',
  none: 'none flows through it',
  missing: 'not known',
};

function printOp(def: OpDef, { dtypes, typeAttr, gradient }: OpRow): string {
  const traits = [
    ...(def.is_stateful ? ['stateful'] : []),
    ...(def.is_commutative ? ['commutative'] : []),
    ...(def.is_aggregate ? ['aggregate'] : []),
    ...(def.deprecation
      ? [`deprecated since version ${def.deprecation.version}: ${def.deprecation.explanation}`]
      : []),
  ];
  const facts = [
    [
      'kernels',
      dtypes.length === 0 ? 'for the one signature' : `${typeAttr} = ${dtypes.map(short).join(' ')}`,
    ],
    ['gradient', GRADIENTS[gradient]],
    ...traits.map((trait, i) => [i === 0 ? 'traits' : '', trait]),
  ];
  return [
    `${def.name}(${def.input_arg.map(argText).join(', ')}) -> (${def.output_arg.map(argText).join(', ')})\n`,
    def.summary ? `\n${def.summary}\n` : '',
    def.description ? `\n${def.description.trim()}\n` : '',
    def.attr.length > 0 ? `\nattrs\n${columns(def.attr.map(attrRow), { indent: 2 })}` : '',
    `\n${columns(facts)}`,
  ].join('');
}

export const opsCommand: Command = {
  summary:
    'Lists the ops: the dtypes that have kernels, and the gradients. With a name: the whole definition of that op.',
  words: ['[Name]'],
  options: { json: { help: 'prints the same as JSON' } },
  notes: ['Gradients: yes; none, because by definition none flows through the op; missing.'],
  async run({ words: [name], flags }, write) {
    const tf = await init({ threads: 1 });
    const defs = tf.opDefs().sort((a, b) => (a.name < b.name ? -1 : 1));
    const def = defs.find((candidate) => candidate.name === name);
    if (name !== undefined && !def)
      throw new CommandError(
        `there is no op ${name}${didYouMean(
          name,
          defs.map((candidate) => candidate.name),
        )}`,
      );
    if (flags.has('json')) {
      const plain = (_: string, value: unknown): unknown =>
        typeof value === 'bigint' ? Number(value) : value;
      const content = def ? { ...def, ...rowOf(tf, def) } : defs.map((one) => rowOf(tf, one));
      write(`${JSON.stringify(content, plain, 2)}\n`);
    } else {
      write(def ? printOp(def, rowOf(tf, def)) : printTable(defs.map((one) => rowOf(tf, one))));
    }
    return 0;
  },
};
