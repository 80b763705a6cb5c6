/** The implementation of the generated op methods: attrs are options with camelCase names. */
import { isPlainObject, shown, unknownName } from '../base/arguments.js';
import { camelCase, lowerFirst } from '../base/camel-case.js';
import type { AttrInput } from '../messages/attr-value.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { OpDef } from '../messages/op-def.js';
import type { GraphCore, OpOptions } from './graph-core.js';
import type { Operand } from './op-inputs.js';
import type { Operation } from './operation.js';

/** The names of the options of an op: TensorFlow's names of its attrs that its inputs do not determine, by the camelCase ones. */
function optionNames({ input_arg, attr }: OpDef): Record<string, string> {
  const inferred = new Set(input_arg.flatMap((arg) => [arg.type_attr, arg.number_attr, arg.type_list_attr]));
  return Object.fromEntries(
    attr.filter(({ name }) => !inferred.has(name)).map(({ name }) => [camelCase(name), name]),
  );
}

/** Options as attrs; both camelCase names and TensorFlow's may be used. `name` is that of the operation, for errors. */
function attrsOf(
  graph: GraphCore,
  type: string,
  options: Readonly<Record<string, AttrInput>>,
  name: string | undefined,
): Record<string, AttrInput> {
  const attrs: Record<string, AttrInput> = {};
  const given = Object.entries(options);
  if (given.length === 0) return attrs;
  const def = graph.findOpDef(type);
  const names = def ? optionNames(def) : {};
  for (const [key, value] of given) {
    const known = Object.hasOwn(names, key);
    if (!known && !key.startsWith('_') && !def?.attr.some((attr) => attr.name === key)) {
      throw unknownName(`op ${type} has no option`, key, [
        ...Object.keys(names),
        'name',
        'controlInputs',
        'device',
      ]).locate(name, type);
    }
    attrs[known ? names[key]! : key] = value;
  }
  return attrs;
}

/** Adds an op. `receiver` is the object on which the method was called. */
function builtOp(
  receiver: object,
  type: string,
  inputs: readonly (Operand | readonly Operand[])[],
  options: OpOptions,
): Operation {
  const graph = receiver as GraphCore | undefined;
  if (typeof graph?.findOpDef !== 'function') {
    throw new TypeError(
      `the method of op ${type} was called without its graph: write graph.method(…), or (…args) => graph.method(…args)`,
    );
  }
  if (!isPlainObject(options)) {
    const after =
      inputs.length === 0
        ? ''
        : `behind ${inputs.length === 1 ? 'its input' : `its ${inputs.length} inputs`} `;
    throw new InvalidArgumentError(
      `${after}op ${type} takes options, an object such as { name: 'a' }, not ${shown(options)}`,
    );
  }
  const { name, controlInputs, device, ...rest } = options as OpOptions & Record<string, AttrInput>;
  return graph.op(type, inputs, { name, controlInputs, device, attrs: attrsOf(graph, type, rest, name) });
}

/** What a method returns, by the last letter of its form. */
const RESULTS: Readonly<Record<string, (operation: Operation) => unknown>> = {
  n: (operation) => operation,
  o: (operation) => operation.output(0),
  l: (operation) => operation.outputs,
};

type OpMethod = (this: object, ...args: unknown[]) => unknown;

/** Makes methods of ops of one form. */
function methodMaker(form: string): (type: string) => OpMethod {
  const [, digits, flags, result] = /^(\d+)(.*)(.)$/.exec(form)!;
  const count = Number(digits);
  const take = RESULTS[result!]!;
  const isRequired = flags!.includes('r');
  const isFreeFloat = flags!.includes('f');
  return (type) =>
    function (...args) {
      const inputs = Array.from({ length: count }, (_, i) => args[i] as Operand | readonly Operand[]);
      const given = (args[count] === undefined && !isRequired ? {} : args[count]) as OpOptions;
      const options = isFreeFloat ? ({ dtype: 'float32', ...given } as OpOptions) : given;
      return take(builtOp(this, type, inputs, options));
    };
}

/**
 * Gives `prototype` the methods of ops. `ops` has their names by their form: the number of inputs; 'r' if options are required;
 * 'f' for the dtype float32 if no other is asked for; and 'n', 'o' or 'l' for a result that is the operation, its output, or
 * the list of its outputs. The method of 'MatMul' is matMul; 'LRN:lrn' says its name. As code, the methods would take most of
 * the time that the import of the package takes.
 */
export function addOpMethods(prototype: object, ops: Readonly<Record<string, string>>): void {
  /* An object without a prototype is a hash table. V8 copies others for each property that they get. */
  const methods = Object.create(null) as object;
  const property: PropertyDescriptor = { writable: true, configurable: true };
  for (const [form, names] of Object.entries(ops)) {
    const make = methodMaker(form);
    for (const entry of names.split(' ')) {
      const end = entry.indexOf(':');
      const type = end < 0 ? entry : entry.slice(0, end);
      property.value = make(type);
      Object.defineProperty(methods, end < 0 ? lowerFirst(type) : entry.slice(end + 1), property);
    }
  }
  Object.setPrototypeOf(methods, Object.getPrototypeOf(prototype) as object);
  Object.setPrototypeOf(prototype, methods);
}
