/** EngineBytes: a message in the engine's memory, where it is parsed. A file can be written there while it arrives. */
import type { TextPtr } from '../generated/abi.js';
import type { Wasm } from './wasm.js';

export class EngineBytes {
  #begin: TextPtr;
  #length = 0;
  #capacity: number;

  /** Empty, with memory for so many bytes; more is found when it is needed. Call `free` when it is no longer used. */
  constructor(
    private readonly wasm: Wasm,
    capacity: number,
  ) {
    this.#begin = wasm.malloc<'char'>(capacity);
    this.#capacity = capacity;
  }

  static of(wasm: Wasm, bytes: Uint8Array): EngineBytes {
    const made = new EngineBytes(wasm, bytes.length);
    made.append(bytes);
    return made;
  }

  static async ofPieces(
    wasm: Wasm,
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    capacity: number,
  ): Promise<EngineBytes> {
    const made = new EngineBytes(wasm, capacity);
    try {
      for await (const piece of pieces) made.append(piece);
      return made;
    } catch (error) {
      made.free();
      throw error;
    }
  }

  /** Valid until the bytes grow or are freed. */
  get begin(): TextPtr {
    return this.#begin;
  }

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const { wasm } = this;
    if (this.#length + piece.length > this.#capacity) {
      const capacity = Math.max(2 * this.#capacity, this.#length + piece.length);
      const larger = wasm.malloc<'char'>(capacity);
      wasm.u8.copyWithin(larger, this.#begin, this.#begin + this.#length);
      wasm.call.free(this.#begin);
      this.#begin = larger;
      this.#capacity = capacity;
    }
    wasm.u8.set(piece, this.#begin + this.#length);
    this.#length += piece.length;
  }

  copy(): Uint8Array {
    return this.wasm.u8.slice(this.#begin, this.#begin + this.#length);
  }

  free(): void {
    this.wasm.call.free(this.#begin);
    this.#begin = 0 as TextPtr;
    this.#length = this.#capacity = 0;
  }
}
