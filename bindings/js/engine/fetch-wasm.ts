/** Loads and compiles a .wasm from a given location, and explains failures. */
import { UnavailableError } from '../base/errors.js';
import { isNode, nodeModule } from '../base/host.js';

/** The source of a .wasm: a URL, bytes, a compiled module, a Response. */
export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module;

export interface FetchOptions {
  signal?: AbortSignal;
  /** Progress in bytes while the wasm is loaded; `total` is 0 if the server does not report it. */
  onProgress?: (loaded: number, total: number) => void;
}

async function readBody(
  response: Response,
  onProgress: NonNullable<FetchOptions['onProgress']>,
): Promise<ArrayBuffer> {
  /* For a compressed response the header has the compressed length. */
  const total = response.headers.has('content-encoding')
    ? 0
    : Number(response.headers.get('content-length') ?? 0);
  const reader = response.body!.getReader();
  const chunks: Uint8Array[] = [];
  let loaded = 0;
  for (let part; !(part = await reader.read()).done; ) {
    chunks.push(part.value);
    loaded += part.value.length;
    onProgress(loaded, total);
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes.buffer;
}

/**
 * Not `instanceof Response`: evaluating that name makes Node load all of its fetch, which takes longer than
 * our start.
 */
const isResponse = (source: unknown): source is Response =>
  typeof source === 'object' && source !== null && 'arrayBuffer' in source && 'ok' in source;

/** The content at a URL: a Response whose body is not read yet, or the bytes of a file. */
async function open(
  source: string | URL | Response,
  options: FetchOptions,
): Promise<Response | BufferSource> {
  const address = isResponse(source) ? source.url : String(source);
  if (isNode && !isResponse(source) && !/^(https?|data|blob):/.test(address)) {
    try {
      const place = source instanceof URL || address.startsWith('file:') ? new URL(address) : address;
      const bytes = await nodeModule('node:fs/promises').readFile(place, { signal: options.signal });
      options.onProgress?.(bytes.length, bytes.length);
      return bytes;
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new UnavailableError(`the wasm file cannot be read: ${(error as Error).message}`);
    }
  }
  let response: Response;
  try {
    response = isResponse(source)
      ? source
      : await fetch(address, { signal: options.signal, credentials: 'same-origin' });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new UnavailableError(
      `the wasm file could not be fetched from ${address}: ${(error as Error).message}`,
    );
  }
  if (!response.ok)
    throw new UnavailableError(
      `the wasm file is not at ${address}: HTTP ${response.status} ${response.statusText}`,
    );
  return response;
}

/** Refuses content that cannot be WebAssembly, with the likely reason. */
function checkHead(bytes: BufferSource, where: string): void {
  const length = Math.min(bytes.byteLength, 4);
  const head = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, length)
    : new Uint8Array(bytes, 0, length);
  if (head[0] === 0 && head[1] === 0x61 && head[2] === 0x73 && head[3] === 0x6d) return;
  const html =
    head[0] === 0x3c ? ' but an HTML page: the server answers with a page where the file should be' : '';
  throw new UnavailableError(`what was loaded${where} is no WebAssembly${html}`);
}

/** Waits for the compiler, whose errors do not depend on the file's location. */
async function explained(compiling: Promise<WebAssembly.Module>): Promise<WebAssembly.Module> {
  try {
    return await compiling;
  } catch (error) {
    const message = (error as Error).message;
    const hint = /unsafe-eval|Content Security Policy/i.test(message)
      ? " (the page's Content-Security-Policy must allow script-src 'wasm-unsafe-eval')"
      : '';
    throw new UnavailableError(`the wasm file could not be compiled: ${message}${hint}`);
  }
}

/** The module at `source`. `missing` is added to the error if there is no wasm: advice for the reader. */
export async function compile(
  source: WasmSource,
  options: FetchOptions,
  missing = '',
): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  let bytes: BufferSource;
  try {
    const isAddress = typeof source === 'string' || source instanceof URL || isResponse(source);
    const opened = isAddress ? await open(source, options) : source;
    if (isResponse(opened)) {
      /* A page compiles while downloading, and caches the result; that requires a server that sends the type. */
      const streams =
        !isNode && !options.onProgress && opened.headers.get('content-type')?.startsWith('application/wasm');
      if (streams) return explained(WebAssembly.compileStreaming(opened));
      bytes =
        options.onProgress && opened.body
          ? await readBody(opened, options.onProgress)
          : await opened.arrayBuffer();
    } else {
      bytes = opened;
    }
    checkHead(bytes, isAddress ? ` at ${isResponse(source) ? source.url : String(source)}` : '');
  } catch (error) {
    if (error instanceof UnavailableError) throw new UnavailableError(error.message + missing);
    throw error;
  }
  return explained(WebAssembly.compile(bytes));
}
