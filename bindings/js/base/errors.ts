/**
 * Errors have TensorFlow's status codes: one class for each, so that `catch (e) { if (e instanceof
 * NotFoundError) … }` works.
 */

/** The positions of a node and an op in TensorFlow's messages. */
const NODE_PATTERNS = [
  /\{\{node ([^}]+)\}\}/,
  /NodeDef '([^']+)'/,
  /for '([^']+)' \(op: '/,
  /\bNode (?:name )?'([^']+)'/,
  /\bof node (\S+)/,
];
const OP_PATTERNS = [
  /\{\{node [^}]*\}\} = ([\w.>]+)\[/,
  /\(op: '([^']+)'\)/,
  /Op<name=([^;>]+)/,
  /Op type not registered '([^']+)'/,
];

const firstMatch = (text: string, patterns: readonly RegExp[]): string | undefined =>
  patterns.map((pattern) => pattern.exec(text)?.[1]).find(Boolean);

/**
 * INVALID_ARGUMENT -> InvalidArgumentError. The class's own name is not used, because bundlers shorten it.
 */
const nameOf = (code: string): string =>
  `${code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Error`;

export class TFError extends Error {
  /** The node that failed and its op, if known. */
  declare readonly node?: string;
  declare readonly op?: string;

  constructor(
    /** TensorFlow's name of the code: 'INVALID_ARGUMENT', 'NOT_FOUND', … */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = nameOf(code);
    const node = firstMatch(message, NODE_PATTERNS);
    const op = firstMatch(message, OP_PATTERNS);
    if (node) this.node = node;
    if (op) this.op = op;
  }

  /** @internal Adds a line with advice to the message, once. */
  hint(line: string): this {
    if (!this.message.includes(line)) this.message += `\n${line}`;
    return this;
  }

  /** @internal Sets the node that failed, unless the message names one. */
  locate(node: string | undefined, op: string | undefined): this {
    return Object.assign(this, { node: this.node ?? node, op: this.op ?? op });
  }
}

export class CancelledError extends TFError {
  constructor(message: string) {
    super('CANCELLED', message);
  }
}
export class UnknownError extends TFError {
  constructor(message: string) {
    super('UNKNOWN', message);
  }
}
export class InvalidArgumentError extends TFError {
  constructor(message: string) {
    super('INVALID_ARGUMENT', message);
  }
}
export class DeadlineExceededError extends TFError {
  constructor(message: string) {
    super('DEADLINE_EXCEEDED', message);
  }
}
export class NotFoundError extends TFError {
  constructor(message: string) {
    super('NOT_FOUND', message);
  }
}
export class AlreadyExistsError extends TFError {
  constructor(message: string) {
    super('ALREADY_EXISTS', message);
  }
}
export class PermissionDeniedError extends TFError {
  constructor(message: string) {
    super('PERMISSION_DENIED', message);
  }
}
export class ResourceExhaustedError extends TFError {
  constructor(message: string) {
    super('RESOURCE_EXHAUSTED', message);
  }
}
export class FailedPreconditionError extends TFError {
  constructor(message: string) {
    super('FAILED_PRECONDITION', message);
  }
}
export class AbortedError extends TFError {
  constructor(message: string) {
    super('ABORTED', message);
  }
}
export class OutOfRangeError extends TFError {
  constructor(message: string) {
    super('OUT_OF_RANGE', message);
  }
}
export class UnimplementedError extends TFError {
  constructor(message: string) {
    super('UNIMPLEMENTED', message);
  }
}
export class InternalError extends TFError {
  constructor(message: string) {
    super('INTERNAL', message);
  }
}
export class UnavailableError extends TFError {
  constructor(message: string) {
    super('UNAVAILABLE', message);
  }
}
export class DataLossError extends TFError {
  constructor(message: string) {
    super('DATA_LOSS', message);
  }
}
export class UnauthenticatedError extends TFError {
  constructor(message: string) {
    super('UNAUTHENTICATED', message);
  }
}

/** By code number, starting at 1. */
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

/** Their names, in the same order. */
const CODES = CLASSES.map((ErrorClass) => new ErrorClass('').code);

/** The error for a status code (google.rpc.Code). */
export function errorOf(code: number, message: string): TFError {
  return new (CLASSES[code - 1] ?? UnknownError)(message);
}

/** The number of a code's name; unknown names are UNKNOWN. */
export function codeNumber(code: string): number {
  return CODES.indexOf(code) + 1 || 2;
}
