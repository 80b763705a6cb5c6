/**
 * TaskRendezvous: the values of one step in one task of a cluster. The engine's part of the step leaves and takes values
 * here; whoever carries values between tasks does the same from outside.
 */
import { TFError, codeNumber } from '../base/errors.js';
import type { Ptr, TensorPtr, WasmRendezvousPtr } from '../generated/abi.js';
import type { Tensor } from '../tensor/tensor.js';
import { copyIn, downloadTensor } from './transfer.js';
import { type Wasm, unsigned } from './wasm.js';

/** A value that was sent; undefined for one that is dead: the sender ran in a branch that was not taken. */
export interface Sent {
  readonly tensor: Tensor | undefined;
}

export class TaskRendezvous {
  readonly pointer: WasmRendezvousPtr;

  /** `task` is '/job:worker/replica:0/task:1'. */
  constructor(
    private readonly wasm: Wasm,
    task: string,
  ) {
    this.pointer = unsigned(
      wasm.scope((scope) =>
        wasm.checked((status) => wasm.call.TF_WasmNewRendezvous(scope.string(task), status)),
      ),
    );
  }

  /** Throws the error of the step if it was aborted. */
  leave(key: string, { tensor }: Sent): void {
    const { wasm } = this;
    wasm.scope((scope) => {
      const value = tensor ? copyIn(wasm, scope, tensor) : 0;
      try {
        wasm.checked((status) => wasm.call.TF_WasmLeaveValue(this.pointer, scope.string(key), value, status));
      } finally {
        if (value !== 0) wasm.call.TF_DeleteTensor(value);
      }
    });
  }

  /** The value that was left first under a key; undefined if none is there. Throws the error of an aborted step. */
  take(key: string): Sent | undefined {
    const { wasm } = this;
    return wasm.scope((scope) => {
      const place: Ptr<TensorPtr> = scope.alloc(4);
      const taken = wasm.checked((status) =>
        wasm.call.TF_WasmTakeValue(this.pointer, scope.string(key), place, status),
      );
      if (taken === 0) return undefined;
      const pointer = wasm.at(place, 0);
      return { tensor: pointer === 0 ? undefined : downloadTensor(wasm, pointer) };
    });
  }

  /** The keys, each once, of values that the step waits for and that other tasks send. */
  wanted(): string[] {
    const keys: string[] = [];
    for (;;) {
      const key = this.wasm.buffer((buffer, status) =>
        this.wasm.call.TF_WasmWantedKey(this.pointer, buffer, status),
      );
      if (key.length === 0) return keys;
      keys.push(new TextDecoder().decode(key));
    }
  }

  /** Ends the step with an error. The first one counts. */
  abort({ code, message }: TFError): void {
    this.wasm.scope((scope) =>
      this.wasm.call.TF_WasmAbortRendezvous(this.pointer, codeNumber(code), scope.string(message)),
    );
  }

  /** No step uses it any more. */
  dispose(): void {
    this.wasm.call.TF_WasmDeleteRendezvous(this.pointer);
  }
}
