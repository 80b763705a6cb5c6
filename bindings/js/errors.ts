/** Errors carry TensorFlow's status codes: one class for each, so that `catch (e) { if (e instanceof NotFoundError) … }` works. */

export class TFError extends Error {
  /** The node that failed and its op, where they are known. */
  declare readonly node?: string;
  declare readonly op?: string;

  constructor(
    /** TensorFlow's name of the code: 'INVALID_ARGUMENT', 'NOT_FOUND', … */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
    const node = /\{\{node ([^}]+)\}\}/.exec(message) ?? /NodeDef '([^']+)'/.exec(message) ?? /for '([^']+)' \(op: '/.exec(message);
    const op = /\(op: '([^']+)'\)/.exec(message) ?? /Op<name=([^;>]+)/.exec(message) ?? /Op type not registered '([^']+)'/.exec(message);
    if (node) this.node = node[1];
    if (op) this.op = op[1];
  }

  /** @internal Says which node failed, as far as the message left it open. */
  locate(node: string | undefined, op: string | undefined): this {
    return Object.assign(this, { node: this.node ?? node, op: this.op ?? op });
  }
}

function errorClass(code: string, name: string) {
  const made = class extends TFError {
    constructor(message: string) {
      super(code, message);
    }
  };
  Object.defineProperty(made, 'name', { value: name });
  return made;
}

export const CancelledError = errorClass('CANCELLED', 'CancelledError');
export const UnknownError = errorClass('UNKNOWN', 'UnknownError');
export const InvalidArgumentError = errorClass('INVALID_ARGUMENT', 'InvalidArgumentError');
export const DeadlineExceededError = errorClass('DEADLINE_EXCEEDED', 'DeadlineExceededError');
export const NotFoundError = errorClass('NOT_FOUND', 'NotFoundError');
export const AlreadyExistsError = errorClass('ALREADY_EXISTS', 'AlreadyExistsError');
export const PermissionDeniedError = errorClass('PERMISSION_DENIED', 'PermissionDeniedError');
export const ResourceExhaustedError = errorClass('RESOURCE_EXHAUSTED', 'ResourceExhaustedError');
export const FailedPreconditionError = errorClass('FAILED_PRECONDITION', 'FailedPreconditionError');
export const AbortedError = errorClass('ABORTED', 'AbortedError');
export const OutOfRangeError = errorClass('OUT_OF_RANGE', 'OutOfRangeError');
export const UnimplementedError = errorClass('UNIMPLEMENTED', 'UnimplementedError');
export const InternalError = errorClass('INTERNAL', 'InternalError');
export const UnavailableError = errorClass('UNAVAILABLE', 'UnavailableError');
export const DataLossError = errorClass('DATA_LOSS', 'DataLossError');
export const UnauthenticatedError = errorClass('UNAUTHENTICATED', 'UnauthenticatedError');

/** By code number, from 1. */
const CLASSES = [
  CancelledError,
  UnknownError,
  InvalidArgumentError,
  DeadlineExceededError,
  NotFoundError,
  AlreadyExistsError,
  PermissionDeniedError,
  ResourceExhaustedError,
  FailedPreconditionError,
  AbortedError,
  OutOfRangeError,
  UnimplementedError,
  InternalError,
  UnavailableError,
  DataLossError,
  UnauthenticatedError,
];

/** The error for a status code (google.rpc.Code). */
export function errorOf(code: number, message: string): TFError {
  return new (CLASSES[code - 1] ?? UnknownError)(message);
}
