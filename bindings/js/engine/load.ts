/** Loads an engine: combines a build's glue, its wasm and its workers. */
import { BUILDS, Build, Variant } from './builds.js';
import type { Choice } from './choose-build.js';
import { TFError, UnavailableError } from '../base/errors.js';
import { WasmSource, compile } from './fetch-wasm.js';
import { LogSink, Origin, Runtime } from './runtime.js';
import { EngineParts, PartName, PartSource, PartSources } from './engine-part.js';
import { VERSION } from '../base/version.js';
import { Wasm } from './wasm.js';
import { HostWorker, WorkersRefused, startWorkers } from './workers.js';

export interface InitOptions {
  /**
   * The location of the wasm: a URL, bytes, a compiled module, a Response; or, as a URL that ends in '/', the
   * folder with copies of the package's files tfcore-*.wasm and tfcore-worker.js. Default: next to the
   * package's JavaScript.
   */
  wasm?: string | URL | Response | BufferSource | WebAssembly.Module;
  /**
   * The location of tfcore-*-training.wasm, which the builds without threads load when they need it: a URL, bytes, or
   * a compiled module. Default: next to the wasm, if its location ends in the name of the package's file; else next
   * to the package's JavaScript.
   */
  trainingWasm?: string | URL | BufferSource | WebAssembly.Module;
  /** In the same way, the location of tfcore-*-side.wasm, with the ops of which most graphs have none. */
  sideWasm?: string | URL | BufferSource | WebAssembly.Module;
  /**
   * Default: the fastest build that this host runs. `tf.variant` is its name, `tf.variantReason` the reason
   * if it is not the package's fastest.
   */
  variant?: Variant;
  /** The number of computing threads, in the builds with threads. Default: one per processor, at most 8. */
  threads?: number;
  /**
   * Lets V8 compute two adjacent vectors of 128 bits in one of 256, on processors with AVX. Products of matrices
   * and convolutions are 1.2 to 1.4 times as fast. Node 24 or newer; an experiment of V8, for all modules that
   * the process compiles from then on.
   */
  revectorize?: boolean;
  signal?: AbortSignal;
  /** Progress in bytes while the wasm is loaded; `total` is 0 if the server does not report it. */
  onProgress?: (loaded: number, total: number) => void;
}

/** The URL of a folder with the files of the package. */
function folderOf(source: InitOptions['wasm']): string | URL | undefined {
  return (typeof source === 'string' || source instanceof URL) && String(source).endsWith('/')
    ? source
    : undefined;
}

const inFolder = (folder: string | URL, name: string): string | URL =>
  folder instanceof URL ? new URL(name, folder) : `${folder}${name}`;

/** The sources of the other modules of a build; undefined if its wasm is whole. */
function partsOf(variant: Variant, build: Build, options: InitOptions): PartSources | undefined {
  const { wasm, trainingWasm, sideWasm } = options;
  const { parts } = build;
  if (!parts) return undefined;
  const name = `tfcore-${variant}.wasm`;
  const isPlace =
    (typeof wasm === 'string' || wasm instanceof URL) && /[/\\]$/.test(String(wasm).replace(name, ''));
  const place = (part: PartName): PartSource => {
    if (!isPlace) return parts[part]();
    const folder = String(wasm).replace(name, '');
    return inFolder(wasm instanceof URL ? new URL(folder) : folder, `tfcore-${variant}-${part}.wasm`);
  };
  return { training: trainingWasm ?? place('training'), side: sideWasm ?? place('side') };
}

/** Advice for a missing wasm, appended to the error. */
function adviceFor(variant: Variant, source: InitOptions['wasm'], address: string): string {
  const files = `node_modules/tfcore-wasm/dist/tfcore-${variant}.wasm${variant.endsWith('threads') ? ' and tfcore-worker.js' : ''}`;
  if (folderOf(source) !== undefined) return `\nCopy ${files} into that folder.`;
  if (source !== undefined) return '';
  return [
    '',
    `The file is ${files} of the package; it has to lie beside the JavaScript that asks for it.`,
    `  Vite, development server: optimizeDeps: { exclude: ['tfcore-wasm'] } in vite.config, and in a monorepo server: { fs: { allow: [its root] } }${address.includes('/.vite/') ? ' (this is what happened here)' : ''}`,
    '  esbuild, Rollup: copy tfcore-*.wasm and tfcore-worker.js from node_modules/tfcore-wasm/dist into the folder of the bundle',
    '  webpack, Next, Parcel, Vite: they copy it themselves; the server must serve what they made',
    `  anywhere: init({ wasm: '/folder/' }) with a folder that these files were copied to, or import 'tfcore-wasm/inline', which needs no file`,
  ].join('\n');
}

/** Compiles the wasm of a build. */
async function compileBuild(
  variant: Variant,
  build: Build,
  options: InitOptions,
): Promise<WebAssembly.Module> {
  const folder = folderOf(options.wasm);
  let source: WasmSource | undefined =
    folder === undefined ? options.wasm : inFolder(folder, `tfcore-${variant}.wasm`);
  try {
    source ??= await build.wasm();
  } catch (error) {
    throw new UnavailableError(
      `the address of the wasm file is unknown: ${(error as Error).message}${adviceFor(variant, undefined, '')}`,
    );
  }
  return compile(source, options, adviceFor(variant, options.wasm, String(source)));
}

/** Instantiates the glue with a compiled module, and finds its memory. */
async function instantiate(
  build: Build,
  module: WebAssembly.Module,
  workers: HostWorker[],
  log: LogSink,
  loadPart: (part: number) => number,
): Promise<[Wasm, WebAssembly.Exports]> {
  let memory: WebAssembly.Memory | undefined;
  let exports: WebAssembly.Exports = {};
  const findMemory = (values: object) =>
    Object.values(values).find((value): value is WebAssembly.Memory => value instanceof WebAssembly.Memory);
  const made = await new Promise<Record<string, unknown>>((resolve, reject) => {
    build
      .create({
        workers: [...workers],
        printErr: (line: string) => log.write(line),
        loadPart,
        instantiateWasm(
          imports: WebAssembly.Imports,
          ready: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
        ) {
          WebAssembly.instantiate(module, imports)
            .then((instance) => {
              exports = instance.exports;
              memory = findMemory(exports) ?? Object.values(imports).map(findMemory).find(Boolean);
              ready(instance, module);
            })
            .catch(reject);
          return {};
        },
      })
      .then(resolve, reject);
  });
  if (!memory) throw new UnavailableError('the wasm module exports no memory');
  return [new Wasm(made, memory), exports];
}

/**
 * Refuses modules with which the glue would crash without a catchable error: ours import functions, and with
 * threads their memory.
 */
function checkModule(module: WebAssembly.Module, threads: boolean): void {
  const kinds = WebAssembly.Module.imports(module).map(({ kind }) => kind);
  if (!kinds.includes('function')) throw new Error('it is none of tfcore-wasm');
  if (kinds.includes('memory') !== threads)
    throw new Error(`it is a build ${threads ? 'without' : 'with'} threads`);
}

/** The running engine of one build, or an error with the reason. */
async function start(
  build: Build,
  module: WebAssembly.Module,
  threads: boolean,
  workers: HostWorker[],
  log: LogSink,
  loadPart: (part: number) => number,
): Promise<[Wasm, WebAssembly.Exports]> {
  let wasm: Wasm;
  let exports: WebAssembly.Exports;
  let version: string;
  try {
    checkModule(module, threads);
    [wasm, exports] = await instantiate(build, module, workers, log, loadPart);
    version = wasm.text(wasm.call.TF_Version());
  } catch (error) {
    if (error instanceof TFError) throw error;
    throw new UnavailableError(
      `the wasm module could not be started: ${(error as Error).message} (is it of another version than the JavaScript, ${VERSION}?)`,
    );
  }
  if (!version.endsWith(`-${VERSION}`)) {
    throw new UnavailableError(
      `the wasm module is version ${version}, the JavaScript is ${VERSION}: both must come from the same package`,
    );
  }
  return [wasm, exports];
}

/** Loads one build. */
async function load(
  variant: Variant,
  threads: number,
  reason: string | undefined,
  options: InitOptions,
): Promise<Runtime> {
  const abandoned = new AbortController();
  const abort = () => abandoned.abort(options.signal!.reason);
  options.signal?.addEventListener('abort', abort, { once: true });
  const module = compileBuild(variant, BUILDS[variant]!, { ...options, signal: abandoned.signal });
  module.catch(() => {}); // it is awaited later
  try {
    const folder = folderOf(options.wasm);
    const script = folder && inFolder(folder, 'tfcore-worker.js');
    const parts = partsOf(variant, BUILDS[variant]!, options);
    return await loadCompiled({ variant, threads, module, parts, script }, reason, options.signal);
  } catch (error) {
    abandoned.abort();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }
}

/** Starts an engine from a module that is compiled, or being compiled. */
export async function loadCompiled(
  {
    variant,
    threads,
    script,
    ...origin
  }: Omit<Origin, 'module'> & {
    module: WebAssembly.Module | Promise<WebAssembly.Module>;
  },
  reason?: string,
  signal?: AbortSignal,
): Promise<Runtime> {
  const log: LogSink = { write: (line) => console.error(line) };
  const workers = await startWorkers(threads - 1, script);
  try {
    const module = await origin.module;
    signal?.throwIfAborted();
    let parts: EngineParts | undefined;
    const loadPart = (part: number): number => parts!.loadNumber(part);
    const withThreads = variant.endsWith('threads');
    const [wasm, exports] = await start(BUILDS[variant]!, module, withThreads, workers, log, loadPart);
    parts = new EngineParts(wasm, exports, origin.parts);
    wasm.call.TF_WasmSetThreads(threads);
    for (const worker of workers) worker.unref?.();
    return new Runtime(wasm, parts, { ...origin, variant, threads, module, script }, log, reason);
  } catch (error) {
    for (const worker of workers) worker.terminate();
    throw error;
  }
}

/** Loads the chosen build, or the one without threads if workers are refused. */
export async function loadRuntime(
  options: InitOptions,
  { variant, threads, reason, withoutThreads }: Choice,
): Promise<Runtime> {
  try {
    return await load(variant, threads, reason, options);
  } catch (error) {
    const single = error instanceof WorkersRefused ? withoutThreads : undefined;
    if (single !== undefined && (options.wasm === undefined || folderOf(options.wasm) !== undefined)) {
      return load(
        single,
        1,
        [reason, `one thread: ${(error as Error).message}`].filter(Boolean).join('; '),
        options,
      );
    }
    if (error instanceof WorkersRefused)
      throw new UnavailableError(`variant '${variant}' cannot run here: ${error.message}`);
    throw error;
  }
}
