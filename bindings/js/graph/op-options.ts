/** The implementation of the generated op methods: attrs are options with camelCase names. */
import { isPlainObject, shown, unknownName } from '../base/arguments.js';
import type { AttrInput } from '../messages/attr-value.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { GraphCore, OpOptions } from './graph-core.js';
import type { Operand } from './op-inputs.js';
import type { Operation } from './operation.js';

/**
 * Adds an op. `names` maps the camelCase names of attrs to TensorFlow's; both may be used. `receiver` is the
 * object on which the method was called.
 */
export function builtOp(
  receiver: object,
  type: string,
  inputs: readonly (Operand | readonly Operand[])[],
  options: OpOptions,
  names: Readonly<Record<string, string>> = {},
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
  const attrs: Record<string, AttrInput> = {};
  for (const [key, value] of Object.entries(rest)) {
    const known = Object.hasOwn(names, key);
    if (!known && !key.startsWith('_') && !graph.findOpDef(type)?.attr.some((attr) => attr.name === key)) {
      throw unknownName(`op ${type} has no option`, key, [
        ...Object.keys(names),
        'name',
        'controlInputs',
        'device',
      ]).locate(name, type);
    }
    attrs[known ? names[key]! : key] = value;
  }
  return graph.op(type, inputs, { name, controlInputs, device, attrs });
}
