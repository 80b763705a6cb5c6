/** Transport: carries calls of a MasterService, whatever is between the client and the service. */
import { InvalidArgumentError, TFError } from '../base/errors.js';
import type { Fields, MessageType, ValuesOf } from '../messages/message-type.js';
import { OutOfLine } from '../messages/tensor-proto.js';
import type { Method } from './messages.js';

/** An encoded message: TensorFlow's bytes, except that contents of large tensors may be in `buffers`. */
export interface Parcel {
  readonly bytes: Uint8Array;
  readonly buffers: readonly ArrayBuffer[];
}

export interface CallOptions {
  /** Rejects the call with CancelledError, and cancels its work. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds after which a network ends the call with DeadlineExceededError. 0: the call runs a step, which may
   * take as long as it does. Without it the transport has a time of its own.
   */
  readonly timeoutMs?: number | undefined;
}

export interface Transport {
  /** Whether parcels may have buffers. They are transferred: the sender loses them. */
  readonly carriesBuffers: boolean;
  /** Whether the service begins steps in the order of the calls. */
  readonly keepsOrder: boolean;
  /** The maximum length of a message, if there is one. */
  readonly mostBytes?: number;
  /** Rejects with the TFError of the service, and with UnavailableError when it cannot be reached. */
  call(method: string, request: Parcel, options: CallOptions): Promise<Parcel>;
  /** Adds advice to an error of the service that was in a response. */
  advised?(error: TFError): TFError;
}

/** Protobuf has no longer messages. */
export const MOST_BYTES = 2 ** 31 - 1;

/** The error for a message that is longer than a transport carries. */
export const tooLong = (method: string, size: number, most: number): InvalidArgumentError =>
  new InvalidArgumentError(
    `the message of ${method} would have ${size} bytes, and TensorFlow's messages have at most ${most}: feed the values in parts`,
  );

/** Encodes a message for a transport. */
export function pack<F extends Fields>(
  type: MessageType<F>,
  values: Partial<ValuesOf<F>>,
  carriesBuffers: boolean,
): Parcel {
  const outOfLine = carriesBuffers ? new OutOfLine() : undefined;
  return { bytes: type.encode(values, outOfLine), buffers: outOfLine?.buffers ?? [] };
}

export const unpack = <F extends Fields>(type: MessageType<F>, { bytes, buffers }: Parcel): ValuesOf<F> =>
  type.decode(bytes, buffers);

/** Calls a method. The tensors of the request belong to the call. */
export async function invoke<Q extends Fields, R extends Fields>(
  transport: Transport,
  method: Method<Q, R>,
  request: Partial<ValuesOf<Q>>,
  options: CallOptions = {},
): Promise<ValuesOf<R>> {
  const parcel = pack(method.request, request, transport.carriesBuffers);
  return unpack(method.response, await transport.call(method.name, parcel, options));
}
