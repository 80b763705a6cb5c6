/** Protobuf's text format, which the engine converts to bytes. */
import type { BufferPtr } from '../generated/abi.js';
import { EngineBytes } from './engine-bytes.js';
import type { Wasm } from './wasm.js';

export type TextMessage = 'GraphDef' | 'MetaGraphDef' | 'SavedModel';

/** Fills a buffer with the message of that type. `text` is UTF-8. */
export function fillFromText(wasm: Wasm, type: TextMessage, text: Uint8Array, buffer: BufferPtr): void {
  const source = EngineBytes.of(wasm, text);
  try {
    wasm.scope((scope) =>
      wasm.checked((status) =>
        wasm.call.TF_WasmMessageFromText(scope.string(type), source.begin, source.length, buffer, status),
      ),
    );
  } finally {
    source.free();
  }
}

/** The serialised message. */
export function bytesOfText(wasm: Wasm, type: TextMessage, text: Uint8Array): Uint8Array {
  const buffer = wasm.call.TF_NewBuffer();
  try {
    fillFromText(wasm, type, text, buffer);
    return wasm.bytesOfBuffer(buffer);
  } finally {
    wasm.call.TF_DeleteBuffer(buffer);
  }
}
