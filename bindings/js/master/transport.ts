/** Transport: carries calls of a MasterService, whatever is between the client and the service. */
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
}

export interface Transport {
  /** Whether parcels may have buffers. They are transferred: the sender loses them. */
  readonly carriesBuffers: boolean;
  /** Rejects with the TFError of the service, and with UnavailableError when it cannot be reached. */
  call(method: string, request: Parcel, options: CallOptions): Promise<Parcel>;
}

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
