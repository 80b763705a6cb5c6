/** RecentRequests: notices a request that a network delivers twice. */
import { AbortedError } from '../base/errors.js';

/** As many as TensorFlow remembers. */
const REMEMBERED = 100_000;

export class RecentRequests {
  readonly #ids = new Set<bigint>();

  constructor(private readonly method: string) {}

  /** Throws for a number that was there before. 0: the client numbers none. */
  check(id: bigint): void {
    if (id === 0n) return;
    if (this.#ids.has(id))
      throw new AbortedError(`The same ${this.method} request was received twice. request_id: ${id}`);
    this.#ids.add(id);
    if (this.#ids.size > REMEMBERED) this.#ids.delete(this.#ids.values().next().value!);
  }
}
