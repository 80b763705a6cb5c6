/** MethodTable: the methods of a service, whatever carries their calls. */
import { NotFoundError } from '../base/errors.js';
import type { Method } from '../master/messages.js';
import { Parcel, pack, unpack } from '../master/transport.js';
import type { Fields, ValuesOf } from '../messages/message-type.js';

export type Request<M> = M extends Method<infer Q, Fields> ? ValuesOf<Q> : never;
export type Response<M> = M extends Method<Fields, infer R> ? Partial<ValuesOf<R>> : never;

/** Serves an encoded call; `carriesBuffers`: whether the response may have buffers. */
type ServeParcel = (request: Parcel, signal: AbortSignal, carriesBuffers: boolean) => Promise<Parcel>;

export class MethodTable {
  readonly #methods = new Map<string, ServeParcel>();

  /** The names of the methods. */
  get names(): Iterable<string> {
    return this.#methods.keys();
  }

  /** `signal` ends the work of a call. */
  add<M extends Method<Fields, Fields>>(
    method: M,
    work: (request: Request<M>, signal: AbortSignal) => Response<M> | Promise<Response<M>>,
  ): void {
    this.#methods.set(method.name, async (request, signal, carriesBuffers) => {
      const response = await work(unpack(method.request, request) as Request<M>, signal);
      return pack(method.response, response, carriesBuffers);
    });
  }

  async call(name: string, ...call: Parameters<ServeParcel>): Promise<Parcel> {
    const serve = this.#methods.get(name);
    if (!serve) throw new NotFoundError(`the service has no method '${name}'`);
    return serve(...call);
  }
}
