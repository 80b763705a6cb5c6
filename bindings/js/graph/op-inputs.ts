/**
 * The inputs of an op: converts the caller's values (outputs, variables, plain values) to outputs of the
 * graph.
 */
import { shown } from '../base/arguments.js';
import type { AttrInput } from '../messages/attr-value.js';
import { DType, dtypeOf } from '../tensor/dtypes.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { ArgDef, OpDef } from '../messages/op-def.js';
import { Input, Output, Variable } from './operation.js';
import { tensor } from '../tensor/convert.js';
import { Tensor, TensorLike } from '../tensor/tensor.js';

/** An input of an op: an output, a variable (its value), or a plain value, which becomes a constant. */
export type Operand = Input | TensorLike;

const isHandle = (operand: unknown): operand is Input =>
  operand instanceof Output || operand instanceof Variable;
const isListArg = (arg: ArgDef): boolean => arg.number_attr !== undefined || arg.type_list_attr !== undefined;

/** The interface of the graph to which the op is added. */
export interface InputGraph {
  adopt(output: Output): Output;
  read(variable: Variable): Output;
  constant(value: TensorLike, options: { name: string }): Output;
  uniqueName(base: string): string;
  nullError(what: string): Error;
}

/** Converts the operands of one op to outputs; lists stay lists. */
export class InputResolver {
  private known: Map<string, DType> | undefined;

  /**
   * `def` is undefined for an op that is not registered: then every operand must be an output. `name` returns
   * the operation's name.
   */
  constructor(
    private readonly graph: InputGraph,
    private readonly def: OpDef | undefined,
    private readonly operands: readonly (Operand | readonly Operand[])[],
    private readonly attrs: Record<string, AttrInput | undefined> = {},
    private readonly name: () => string,
  ) {}

  resolve(): (Output | Output[])[] {
    const outputs: (Output | Output[])[] = [];
    for (let i = 0; i < this.operands.length; i++)
      outputs.push(this.input(this.operands[i]!, this.def?.input_arg[i], i)); // includes holes
    return outputs;
  }

  private input(
    operand: Operand | readonly Operand[],
    arg: ArgDef | undefined,
    i: number,
  ): Output | Output[] {
    const asList = arg ? isListArg(arg) : Array.isArray(operand);
    if (!asList) return this.output(operand as Operand, arg, i);
    if (!Array.isArray(operand)) {
      throw new InvalidArgumentError(
        `Input '${arg?.name ?? i}' of op ${this.def?.name} is a list: an array is expected, not ${shown(operand)}`,
      );
    }
    return Array.from(operand as readonly Operand[], (item) => this.output(item, arg, i));
  }

  /** The known type attrs, for plain values: as given, else from the first output with such a type. */
  private get typeAttrs(): Map<string, DType> {
    if (this.known) return this.known;
    const types = (this.known = new Map<string, DType>());
    for (const attr of this.def?.attr ?? []) {
      const given = this.attrs[attr.name];
      if (attr.type === 'type' && typeof given === 'string' && !given.startsWith('$'))
        types.set(attr.name, dtypeOf(given));
    }
    this.operands.forEach((operand, i) => {
      const arg = this.def?.input_arg[i];
      if (arg?.type_attr === undefined || types.has(arg.type_attr)) return;
      const first =
        isListArg(arg) && Array.isArray(operand) ? (operand as readonly unknown[]).find(isHandle) : operand;
      if (isHandle(first)) types.set(arg.type_attr, first.dtype);
    });
    return types;
  }

  private output(operand: Operand, arg: ArgDef | undefined, position: number): Output {
    const output =
      operand instanceof Variable
        ? arg?.type === 'resource'
          ? operand.handle
          : this.graph.read(operand)
        : operand instanceof Output
          ? operand
          : this.constant(operand, arg, position);
    return this.graph.adopt(output);
  }

  private constant(value: TensorLike, arg: ArgDef | undefined, position: number): Output {
    if (!arg || arg.type === 'resource' || arg.is_ref || !isPlainValue(value)) {
      const where = `Input ${arg ? `'${arg.name}'` : position}${this.def ? ` of op ${this.def.name}` : ''}`;
      const refused = `${where} is no Output or Variable${arg && arg.type !== 'resource' ? ' and no value' : ''}`;
      throw value === null
        ? this.graph.nullError(refused)
        : new InvalidArgumentError(`${refused}: ${shown(value)}`);
    }
    const content = tensor(value, undefined, this.dtypeFor(value, arg));
    if (arg.type_attr !== undefined) this.typeAttrs.set(arg.type_attr, content.dtype);
    return this.graph.constant(content, { name: this.graph.uniqueName(`${this.name()}/${arg.name}`) });
  }

  /** The dtype of a plain value; undefined: the value's default. */
  private dtypeFor(value: TensorLike, arg: ArgDef): DType | undefined {
    if (arg.type) return arg.type;
    const known = arg.type_attr === undefined ? undefined : this.typeAttrs.get(arg.type_attr);
    if (known) return known;
    const attr = this.def!.attr.find((candidate) => candidate.name === arg.type_attr);
    if (value instanceof Tensor || ArrayBuffer.isView(value) || !attr) return undefined;
    const allowed = attr.allowed_values as DType[] | undefined;
    if (attr.default_value !== undefined) return attr.default_value as DType;
    if (!allowed || allowed.includes(tensor(value).dtype)) return undefined;
    return allowed.find((dtype) => dtype === 'int32' || dtype === 'int64') ?? allowed[0];
  }
}

/** Whether a value can become a constant. */
export function isPlainValue(value: unknown): value is TensorLike {
  if (['number', 'bigint', 'boolean', 'string'].includes(typeof value)) return true;
  return (
    value instanceof Tensor ||
    ArrayBuffer.isView(value) ||
    Array.isArray(value) ||
    (typeof value === 'object' && value !== null && 're' in value)
  );
}
