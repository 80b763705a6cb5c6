/** OpDefs as plain objects, with TensorFlow's field names. */
import { unknownName } from '../base/arguments.js';
import { AttrValue, decodeAttr, encodeAttr, guessAttrType } from './attr-value.js';
import { DType, dtypeFromNumber } from '../tensor/dtypes.js';
import { TFError } from '../base/errors.js';
import { fieldsOf, intOf, textOf } from './protobuf.js';

export interface ArgDef {
  name: string;
  /**
   * Exactly one of these gives the argument's type: a dtype, a type attr, or an attr that is a list of types.
   */
  type?: DType;
  type_attr?: string;
  type_list_attr?: string;
  /** The attr with the number of tensors of that type. */
  number_attr?: string;
  is_ref: boolean;
  description?: string;
}

export interface AttrDef {
  name: string;
  type: string;
  default_value?: AttrValue;
  has_minimum: boolean;
  minimum: number;
  allowed_values?: AttrValue;
  description?: string;
}

export interface OpDef {
  name: string;
  input_arg: ArgDef[];
  output_arg: ArgDef[];
  attr: AttrDef[];
  is_aggregate: boolean;
  is_stateful: boolean;
  is_commutative: boolean;
  allows_uninitialized_input: boolean;
  control_output?: string[];
  summary?: string;
  description?: string;
  deprecation?: { version: number; explanation: string };
}

function decodeArg(bytes: Uint8Array): ArgDef {
  const arg: ArgDef = { name: '', is_ref: false };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) arg.name = textOf(field);
    else if (field.number === 2) arg.description = textOf(field);
    else if (field.number === 3 && field.value !== 0n) arg.type = dtypeFromNumber(intOf(field));
    else if (field.number === 4) arg.type_attr = textOf(field);
    else if (field.number === 5) arg.number_attr = textOf(field);
    else if (field.number === 6) arg.type_list_attr = textOf(field);
    else if (field.number === 16) arg.is_ref = field.value !== 0n;
  }
  return arg;
}

function decodeAttrDef(bytes: Uint8Array): AttrDef {
  const attr: AttrDef = { name: '', type: '', has_minimum: false, minimum: 0 };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) attr.name = textOf(field);
    else if (field.number === 2) attr.type = textOf(field);
    else if (field.number === 3) attr.default_value = decodeAttr(field.bytes);
    else if (field.number === 4) attr.description = textOf(field);
    else if (field.number === 5) attr.has_minimum = field.value !== 0n;
    else if (field.number === 6) attr.minimum = intOf(field);
    else if (field.number === 7) attr.allowed_values = decodeAttr(field.bytes);
  }
  return attr;
}

export function decodeOpDef(bytes: Uint8Array): OpDef {
  const op: OpDef = {
    name: '',
    input_arg: [],
    output_arg: [],
    attr: [],
    is_aggregate: false,
    is_stateful: false,
    is_commutative: false,
    allows_uninitialized_input: false,
  };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) op.name = textOf(field);
    else if (field.number === 2) op.input_arg.push(decodeArg(field.bytes));
    else if (field.number === 3) op.output_arg.push(decodeArg(field.bytes));
    else if (field.number === 4) op.attr.push(decodeAttrDef(field.bytes));
    else if (field.number === 5) op.summary = textOf(field);
    else if (field.number === 6) op.description = textOf(field);
    else if (field.number === 20) (op.control_output ??= []).push(textOf(field));
    else if (field.number === 8) op.deprecation = decodeDeprecation(field.bytes);
    else if (field.number === 16) op.is_aggregate = field.value !== 0n;
    else if (field.number === 17) op.is_stateful = field.value !== 0n;
    else if (field.number === 18) op.is_commutative = field.value !== 0n;
    else if (field.number === 19) op.allows_uninitialized_input = field.value !== 0n;
  }
  return op;
}

function decodeDeprecation(bytes: Uint8Array): { version: number; explanation: string } {
  const deprecation = { version: 0, explanation: '' };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) deprecation.version = intOf(field);
    else if (field.number === 2) deprecation.explanation = textOf(field);
  }
  return deprecation;
}

/** The ops of a serialised OpList. */
export function decodeOpList(bytes: Uint8Array): OpDef[] {
  const ops: OpDef[] = [];
  for (const field of fieldsOf(bytes)) if (field.number === 1) ops.push(decodeOpDef(field.bytes));
  return ops;
}

/**
 * Like encodeAttr, for attr `name` of an op or function that may be known: then it must have the attr, and
 * the error names it.
 */
export function encodeAttrOf(def: OpDef | undefined, name: string, value: unknown): Uint8Array {
  const declared = def?.attr.find((attr) => attr.name === name)?.type;
  if (def && declared === undefined && !name.startsWith('_'))
    throw unknownName(
      `Op ${def.name} has no attr`,
      name,
      def.attr.map((attr) => attr.name),
    );
  try {
    const isPlaceholder = typeof value === 'string' && value.length > 1 && value.startsWith('$');
    return encodeAttr(declared ?? (isPlaceholder ? 'type' : guessAttrType(value)), value);
  } catch (error) {
    if (error instanceof TFError) error.message = `attr '${name}': ${error.message}`;
    throw error;
  }
}
