/** Protobuf's text format, which the engine converts to bytes. */
import type { BufferPtr, Null, TextPtr } from '../generated/abi.js';
import type { Wasm } from './wasm.js';

export type TextMessage = 'GraphDef' | 'MetaGraphDef' | 'SavedModel';

/** Fills a buffer with the message of that type. `text` is UTF-8. */
export function fillFromText(wasm: Wasm, type: TextMessage, text: Uint8Array, buffer: BufferPtr): void {
  const { call } = wasm;
  let source: TextPtr | Null = 0;
  try {
    source = wasm.malloc<'char'>(text.length);
    wasm.u8.set(text, source);
    wasm.scope((scope) =>
      wasm.checked((status) =>
        call.TF_WasmMessageFromText(scope.string(type), source as TextPtr, text.length, buffer, status),
      ),
    );
  } finally {
    call.free(source);
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
