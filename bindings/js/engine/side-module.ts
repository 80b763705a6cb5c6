/**
 * SideModule: the second part of the builds without threads, with kernels that most graphs do not have: those of rarer
 * ops, and those for rarer types (tools/split-wasm.mjs). It is loaded before the first step after a graph or a function
 * got such a kernel, or in a step that finds one.
 */
import { UnavailableError } from '../base/errors.js';
import { isNode, nodeModule } from '../base/host.js';
import { lowBytes } from '../base/utf8.js';
import { compile } from './fetch-wasm.js';
import type { Wasm } from './wasm.js';

/** The source of a side module: a URL or path, bytes, or a compiled module. */
export type SideSource = string | URL | BufferSource | WebAssembly.Module;

/** tools/split-wasm.mjs gives the imports this name. */
const MAIN = 'main';

const isAddress = (source: SideSource): source is string | URL =>
  typeof source === 'string' || source instanceof URL;

const isFile = (source: string | URL): boolean => isNode && !/^(https?|data|blob):/.test(String(source));

export class SideModule {
  #missing: boolean;
  #loading: Promise<void> | undefined;

  /** `exports` are those of the main module; without a `source` the engine is whole. */
  constructor(
    private readonly wasm: Wasm,
    private readonly exports: WebAssembly.Exports,
    readonly source: SideSource | undefined,
  ) {
    this.#missing = source !== undefined;
    if (this.#missing) wasm.checked((status) => wasm.call.TF_WasmSideModuleIsMissing(status));
  }

  /** Whether steps may need it, and it is not loaded. */
  get isWanted(): boolean {
    return this.#missing && this.wasm.call.TF_WasmSideModuleIsWanted() !== 0;
  }

  /** Loads it unless it is loaded. After a failure, the next call tries again. */
  async load(): Promise<void> {
    if (!this.#missing) return;
    this.#loading ??= this.fetch().finally(() => (this.#loading = undefined));
    await this.#loading;
  }

  /** Loads it before a synchronous step, which blocks the thread. */
  loadAtOnce(): void {
    const { source } = this;
    if (source === undefined || !this.#missing) return;
    if (source instanceof WebAssembly.Module) return this.start(source);
    this.start(new WebAssembly.Module(isAddress(source) ? readAtOnce(source) : source));
  }

  private async fetch(): Promise<void> {
    const source = this.source!;
    const advice = isAddress(source)
      ? '\nIt is the side module, with the kernels of rarely used ops: copy it from node_modules/tfcore-wasm/dist to the place of the other .wasm files, or name its place: init({ sideWasm })'
      : '';
    const module = await compile(source, {}, advice);
    if (this.#missing) this.start(module);
  }

  private start(module: WebAssembly.Module): void {
    try {
      new WebAssembly.Instance(module, { [MAIN]: this.exports as WebAssembly.ModuleImports });
    } catch (error) {
      throw new UnavailableError(
        `the side module does not fit the engine: ${(error as Error).message} (is it of another version or another build?)`,
      );
    }
    this.#missing = false;
    this.wasm.call.TF_WasmSideModuleIsLoaded();
  }
}

/** The bytes at an address, without waiting for the event loop. */
function readAtOnce(source: string | URL): BufferSource {
  try {
    if (isFile(source))
      return nodeModule('node:fs').readFileSync(
        String(source).startsWith('file:') ? new URL(source) : source,
      );
    return requestAtOnce(String(source));
  } catch (error) {
    throw new UnavailableError(
      `the side module cannot be read at once: ${(error as Error).message}; \`await tf.loadSideModule()\` before the first runSync, or use run`,
    );
  }
}

/** In a page, a synchronous request gives text only: here with a byte in each character. */
function requestAtOnce(address: string): BufferSource {
  const request = new XMLHttpRequest();
  request.open('GET', address, false);
  request.overrideMimeType('text/plain; charset=x-user-defined');
  request.send();
  if (request.status !== 200) throw new Error(`HTTP ${request.status} ${request.statusText}`);
  return lowBytes(request.responseText);
}
