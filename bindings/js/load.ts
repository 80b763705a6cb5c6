/** Loading: finds out what the host can run, fetches the matching build, and explains what goes wrong. */
import { InvalidArgumentError, TFError, UnavailableError } from './errors.js';
import { LogSink, Runtime } from './runtime.js';
import { VERSION } from './version.js';
import { Wasm } from './wasm.js';

export type Variant = 'simd' | 'relaxed' | 'simd-threads' | 'relaxed-threads';

export interface InitOptions {
  /** Where the wasm is: an address, bytes, a compiled module, a Response. Default: the file beside the package's JavaScript. */
  wasm?: string | URL | Response | BufferSource | WebAssembly.Module;
  /** Default: the fastest that this host runs. */
  variant?: Variant;
  /** Threads that compute, in the builds with threads. Default: one a processor, at most 8. */
  threads?: number;
  signal?: AbortSignal;
  /** Called while the wasm is loaded, with bytes; `total` is 0 where the server does not tell it. */
  onProgress?: (loaded: number, total: number) => void;
}

type Glue = { default: (options: Record<string, unknown>) => Promise<Record<string, unknown>> };

/** Literal addresses, so that bundlers find the files. */
const BUILDS: Record<Variant, { glue: () => Promise<Glue>; url: () => URL }> = {
  simd: { glue: () => import('./wasm/tfcore-simd.mjs'), url: () => new URL('./wasm/tfcore-simd.wasm', import.meta.url) },
  relaxed: { glue: () => import('./wasm/tfcore-relaxed.mjs'), url: () => new URL('./wasm/tfcore-relaxed.wasm', import.meta.url) },
  'simd-threads': {
    glue: () => import('./wasm/tfcore-simd-threads.mjs'),
    url: () => new URL('./wasm/tfcore-simd-threads.wasm', import.meta.url),
  },
  'relaxed-threads': {
    glue: () => import('./wasm/tfcore-relaxed-threads.mjs'),
    url: () => new URL('./wasm/tfcore-relaxed-threads.wasm', import.meta.url),
  },
};

/** As many as the engine's pool takes. */
const MAX_THREADS = 64;

const isNode = typeof process === 'object' && typeof process.versions?.node === 'string';

/** () -> v128 of one function body: `prefix` is the code between the splats and `end`. */
function vectorModule(...code: number[]): Uint8Array<ArrayBuffer> {
  const body = [0, ...code, 0x0b];
  return Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // magic, version
    1, 5, 1, 0x60, 0, 1, 0x7b, // type: () -> v128
    3, 2, 1, 0, // one function of that type
    10, body.length + 2, 1, body.length, ...body,
  ]);
}

const SPLAT = [0x41, 0, 0xfd, 0x0f]; // i32.const 0, i8x16.splat

/** What this host can run. */
export function detectFeatures(): { simd: boolean; relaxed: boolean; threads: boolean } {
  const simd = WebAssembly.validate(vectorModule(...SPLAT));
  const relaxed = WebAssembly.validate(vectorModule(...SPLAT, ...SPLAT, 0xfd, 0x80, 0x02)); // i8x16.relaxed_swizzle
  let threads = isNode || (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;
  try {
    threads &&= new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer instanceof SharedArrayBuffer;
  } catch {
    threads = false;
  }
  return { simd, relaxed, threads };
}

/** Which build `options` and this host come to, and how many threads compute in it. */
export async function chooseBuild(options: InitOptions): Promise<{ variant: Variant; threads: number }> {
  const variant = chooseVariant(options);
  if (!variant.endsWith('threads')) return { variant, threads: 1 };
  const threads = options.threads ?? Math.min(await processors(), 8);
  if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
    throw new InvalidArgumentError(`threads must be a whole number from 1 to ${MAX_THREADS}, not ${threads}`);
  }
  return { variant, threads };
}

function chooseVariant(options: InitOptions): Variant {
  const host = detectFeatures();
  if (!host.simd) throw new UnavailableError('this JavaScript engine has no WebAssembly SIMD, which tfcore-wasm needs');
  if (options.variant !== undefined) {
    if (!(options.variant in BUILDS)) throw new InvalidArgumentError(`variant '${options.variant}' is none of ${Object.keys(BUILDS).join(', ')}`);
    if (options.variant.startsWith('relaxed') && !host.relaxed) {
      throw new UnavailableError(`variant '${options.variant}' needs relaxed SIMD, which this engine lacks (Node 20: run with --experimental-wasm-relaxed-simd)`);
    }
    if (options.variant.endsWith('threads') && !host.threads) {
      throw new UnavailableError(`variant '${options.variant}' needs threads: the page must be cross-origin isolated (headers COOP: same-origin and COEP: require-corp)`);
    }
    return options.variant;
  }
  const base = host.relaxed ? 'relaxed' : 'simd';
  return host.threads && options.threads !== 1 ? `${base}-threads` : base;
}

async function processors(): Promise<number> {
  if (!isNode) return navigator.hardwareConcurrency || 1;
  const os = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:os');
  return os.availableParallelism();
}

async function readBody(response: Response, onProgress: NonNullable<InitOptions['onProgress']>): Promise<ArrayBuffer> {
  /* Of a compressed response the header tells the compressed length. */
  const total = response.headers.has('content-encoding') ? 0 : Number(response.headers.get('content-length') ?? 0);
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

/** Not `instanceof Response`: where Node is asked for that name, it loads all of its fetch first, which takes longer than our start. */
const isResponse = (source: unknown): source is Response => typeof source === 'object' && source !== null && 'arrayBuffer' in source && 'ok' in source;

/** What stands at an address: a Response whose body is still to come, or the bytes of a file. */
async function open(source: string | URL | Response, options: InitOptions): Promise<Response | BufferSource> {
  const address = isResponse(source) ? source.url : String(source);
  if (isNode && !isResponse(source) && !/^(https?|data|blob):/.test(address)) {
    const fs = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
    try {
      const bytes = await fs.readFile(source instanceof URL || address.startsWith('file:') ? new URL(address) : address, { signal: options.signal });
      options.onProgress?.(bytes.length, bytes.length);
      return bytes;
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new UnavailableError(`the wasm file cannot be read: ${(error as Error).message}`);
    }
  }
  let response: Response;
  try {
    response = isResponse(source) ? source : await fetch(address, { signal: options.signal, credentials: 'same-origin' });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new UnavailableError(`the wasm file could not be fetched from ${address}: ${(error as Error).message}`);
  }
  if (!response.ok) throw new UnavailableError(`the wasm file is not at ${address}: HTTP ${response.status} ${response.statusText}`);
  return response;
}

/** Refuses what cannot be WebAssembly, with the likely reason. */
function checkHead(bytes: BufferSource, where: string): void {
  const length = Math.min(bytes.byteLength, 4);
  const head = ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, length) : new Uint8Array(bytes, 0, length);
  if (head[0] === 0 && head[1] === 0x61 && head[2] === 0x73 && head[3] === 0x6d) return;
  const html = head[0] === 0x3c ? ' but an HTML page: the server answers with a page where the file should be' : '';
  throw new UnavailableError(`what was loaded${where} is no WebAssembly${html}`);
}

async function explained(compiling: Promise<WebAssembly.Module>): Promise<WebAssembly.Module> {
  try {
    return await compiling;
  } catch (error) {
    const message = (error as Error).message;
    const hint = /unsafe-eval|Content Security Policy/i.test(message) ? " (the page's Content-Security-Policy must allow script-src 'wasm-unsafe-eval')" : '';
    throw new UnavailableError(`the wasm file could not be compiled: ${message}${hint}`);
  }
}

async function compile(source: NonNullable<InitOptions['wasm']>, options: InitOptions): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  const isAddress = typeof source === 'string' || source instanceof URL || isResponse(source);
  const opened = isAddress ? await open(source, options) : source;
  let bytes: BufferSource;
  if (isResponse(opened)) {
    /* A page compiles while the file comes in, and keeps what it compiled; that takes a server that names the type. */
    const streams = !isNode && !options.onProgress && opened.headers.get('content-type')?.startsWith('application/wasm');
    if (streams) return explained(WebAssembly.compileStreaming(opened));
    bytes = options.onProgress && opened.body ? await readBody(opened, options.onProgress) : await opened.arrayBuffer();
  } else {
    bytes = opened;
  }
  checkHead(bytes, isAddress ? ` at ${isResponse(source) ? source.url : String(source)}` : '');
  return explained(WebAssembly.compile(bytes));
}

/** Instantiates the glue with a module that was compiled before, and finds the memory it works in. */
async function instantiate(glue: Glue, module: WebAssembly.Module, workers: number, log: LogSink): Promise<Wasm> {
  let memory: WebAssembly.Memory | undefined;
  const findMemory = (values: object) => Object.values(values).find((value): value is WebAssembly.Memory => value instanceof WebAssembly.Memory);
  const made = await new Promise<Record<string, unknown>>((resolve, reject) => {
    glue
      .default({
        pthreadPoolSize: workers,
        printErr: (line: string) => log.write(line),
        instantiateWasm(imports: WebAssembly.Imports, ready: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) {
          WebAssembly.instantiate(module, imports).then((instance) => {
            memory = findMemory(instance.exports) ?? Object.values(imports).map(findMemory).find(Boolean);
            ready(instance, module);
          }).catch(reject);
          return {};
        },
      })
      .then(resolve, reject);
  });
  if (!memory) throw new UnavailableError('the wasm module exports no memory');
  return new Wasm(made, memory);
}

/** Loads one build. */
export async function loadRuntime(options: InitOptions & { variant: Variant; threads: number }): Promise<Runtime> {
  const { variant, threads } = options;
  const build = BUILDS[variant];
  const [glue, module] = await Promise.all([build.glue(), compile(options.wasm ?? build.url(), options)]);
  options.signal?.throwIfAborted();
  const log: LogSink = { write: (line) => console.error(line) };
  let wasm: Wasm;
  let version: string;
  try {
    wasm = await instantiate(glue, module, threads - 1, log);
    version = wasm.text(wasm.call.TF_Version!());
  } catch (error) {
    if (error instanceof TFError) throw error;
    throw new UnavailableError(`the wasm module could not be started: ${(error as Error).message} (is it of another version than the JavaScript, ${VERSION}?)`);
  }
  if (!version.endsWith(`-${VERSION}`)) {
    throw new UnavailableError(`the wasm module is version ${version}, the JavaScript is ${VERSION}: both must come from the same package`);
  }
  wasm.call.TF_WasmSetThreads!(threads);
  return new Runtime(wasm, variant, threads, log);
}
