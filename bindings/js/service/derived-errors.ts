/**
 * Derived errors: those of whoever waited for a value of a step that failed elsewhere. A master reports the error that
 * came first, and not what followed from it, so workers of TensorFlow mark them in the details of gRPC's status.
 */
import { TFError, codeNumber, errorOf } from '../base/errors.js';
import { MessageWriter } from '../messages/protobuf.js';

const derived = new WeakSet<TFError>();

/** The same error, as one that followed from another. */
export function derivedFrom({ code, message }: TFError): TFError {
  const error = errorOf(codeNumber(code), message);
  derived.add(error);
  return error;
}

export const isDerived = (error: unknown): boolean => error instanceof TFError && derived.has(error);

/** The details of the status of a derived error: TensorFlow's GrpcPayloadContainer with an empty DerivedStatus. */
export function derivedDetails(): Uint8Array {
  const writer = new MessageWriter();
  writer.message(1, () => writer.bytes(1, 'type.googleapis.com/tensorflow.DerivedStatus').bytes(2, ''));
  return writer.finish();
}
