/** Arguments of operations: settings, values of the model, and constants in the dtypes that Keras gives them. */
import type { Output } from '../../graph/operation.js';
import { DType, dtypeOf, isDTypeName } from '../../tensor/dtypes.js';
import { Argument, Call, Layer, isTensor } from '../layer.js';
import { isFloat } from '../ops.js';
import { Constant } from '../python-json.js';

/** A dtype, or that of a number in Python, which adapts to the dtype of what it is combined with. */
type Type = DType | 'int' | 'float';

interface Numbers {
  readonly values: readonly number[];
  readonly shape: readonly number[];
  readonly type: Type;
}

/** A value of the model, or a constant that has no node yet: others decide its dtype. */
export type Operand = Output | Numbers;

const isNumbers = (value: Operand): value is Numbers => 'values' in value;
const typeOf = (value: Operand): Type => (isNumbers(value) ? value.type : value.dtype);

/** An operation of TensorFlow in a model of Keras 2: it has TensorFlow's dtypes, not those of Keras 3. */
export const isTensorFlows = (layer: Layer): boolean => layer.json.class_name === 'TFOpLambda';

/** An argument of an operation: of the call, or a setting. */
export const setting = (layer: Layer, call: Call, name: string, place: number): Argument | undefined =>
  call.argument(name, place) ?? (layer.config.value(name) as Argument | undefined);

/** The argument without the dtype of a constant. */
const plain = (value: unknown): unknown => (value instanceof Constant ? value.value : value);

export function wholeNumber(layer: Layer, value: Argument | undefined, what = 'its axis'): number {
  const number = plain(value);
  if (!Number.isSafeInteger(number)) throw layer.refuse(`${what} must be a whole number`);
  return number as number;
}

export function wholeNumbers(layer: Layer, value: Argument | undefined): number[] {
  const given = plain(value);
  const list: unknown = typeof given === 'number' ? [given] : given;
  if (!Array.isArray(list) || !list.every((item) => Number.isSafeInteger(item)))
    throw layer.refuse('an argument must be whole numbers');
  return list as number[];
}

const isFloatItem = (item: unknown): boolean =>
  item instanceof Constant || (typeof item === 'number' && !Number.isInteger(item));

function guessType(items: readonly unknown[]): Type {
  if (items.some(isFloatItem)) return 'float';
  return items.length > 0 && items.every((item) => typeof item === 'boolean') ? 'bool' : 'int';
}

export function operand(layer: Layer, argument: Argument | undefined): Operand {
  if (isTensor(argument)) return argument.output;
  const isArray = argument instanceof Constant && argument.dtype !== 'float';
  const value: unknown = isArray ? argument.value : argument;
  const { items, values, shape } = layer.numbersIn(value);
  const dtype = isArray ? argument.dtype : undefined;
  const type = dtype !== undefined && isDTypeName(dtype) ? dtypeOf(dtype) : guessType(items);
  return { values, shape, type };
}

/** The operand as an output of `dtype`. */
export const outputOf = (layer: Layer, value: Operand, dtype: DType): Output =>
  isNumbers(value) ? layer.constant(value.values, dtype, value.shape) : layer.cast(value, dtype);

/** The operand in its own dtype. */
export const ownOutput = (layer: Layer, value: Operand): Output => outputOf(layer, value, promoted([value]));

const bitsOf = (type: Type): number => Number(/\d+$/.exec(type)?.[0]);

/** Of integers: the smallest that holds both, where one is signed and the other is not. */
function wholeType(types: readonly Type[]): DType {
  const widest = (isOfKind: RegExp): number =>
    Math.max(0, ...types.filter((type) => isOfKind.test(type)).map(bitsOf));
  const [signed, unsigned] = [widest(/^int\d/), widest(/^uint\d/)];
  if (unsigned === 0) return signed === 0 ? 'int32' : (`int${signed}` as DType);
  if (signed === 0) return `uint${unsigned}` as DType;
  const bits = Math.max(signed, 2 * unsigned);
  return bits > 64 ? 'float32' : (`int${bits}` as DType);
}

/** The dtype in which Keras combines types: the least one above all of them. */
function promotedType(types: readonly Type[]): DType {
  const has = (type: Type): boolean => types.includes(type);
  for (const type of ['string', 'complex128', 'complex64', 'float64', 'float32'] as const)
    if (has(type)) return type;
  if (has('float16') || has('bfloat16'))
    return has('float16') && has('bfloat16') ? 'float32' : has('float16') ? 'float16' : 'bfloat16';
  if (has('float')) return 'float32';
  const whole = types.filter((type) => type !== 'bool');
  return whole.length === 0 ? 'bool' : wholeType(whole);
}

/** The dtype in which operands are combined, with others that the operation adds. */
export const promoted = (operands: readonly Operand[], ...others: Type[]): DType =>
  promotedType([...operands.map(typeOf), ...others]);

/** All in one dtype. */
export function alike(layer: Layer, operands: readonly Operand[], ...others: Type[]): Output[] {
  const dtype = promoted(operands, ...others);
  return operands.map((value) => outputOf(layer, value, dtype));
}

/** Numbers of Python in dtypes of their own, for operations that make tensors of them first. */
export const settled = (value: Operand): Operand =>
  isNumbers(value) ? { ...value, type: promotedType([value.type]) } : value;

/** Integers and truth values as float32. */
export const inFloat = (layer: Layer, x: Output): Output =>
  isFloat(x) || /complex/.test(x.dtype) ? x : layer.cast(x, 'float32');

/** The two operands of an operation. TensorFlow calls them x and y, or a and b. */
export function twoOperands(layer: Layer, call: Call): [Operand, Operand] {
  const { kwargs } = call;
  return [
    operand(layer, call.argument('x1', 0) ?? kwargs.x ?? kwargs.a),
    operand(layer, call.argument('x2', 1) ?? kwargs.y ?? kwargs.b),
  ];
}

/** The operands in the list of the first argument. */
export function listedOperands(layer: Layer, list: Argument | undefined): Operand[] {
  if (list === undefined) throw layer.refuse('it is called without values');
  const items = Array.isArray(list) ? (list as readonly Argument[]) : [list];
  return items.map((item) => operand(layer, item));
}
