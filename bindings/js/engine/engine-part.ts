/**
 * EngineParts: what the builds without threads have in modules of their own (tools/split-wasm.mjs). A part is loaded when the
 * engine needs it, which then waits for it; before that, where a caller can wait for a promise; or when a user asks for it.
 */
import { UnavailableError } from '../base/errors.js';
import { isNode, nodeModule } from '../base/host.js';
import { lowBytes } from '../base/utf8.js';
import { compile } from './fetch-wasm.js';
import type { Wasm } from './wasm.js';

/** The source of a part: a URL or path, bytes, or a compiled module. */
export type PartSource = string | URL | BufferSource | WebAssembly.Module;

/** The parts: their numbers in EnginePart (src/op/engine_parts.h), and words for messages. */
const PARTS = {
  training: {
    number: 1,
    title: 'the training module',
    contents: 'with what training needs',
    loader: 'loadTrainingModule()',
    option: 'trainingWasm',
  },
  side: {
    number: 2,
    title: 'the side module',
    contents: 'with rarely used ops and the kernels for rarer types',
    loader: 'loadSideModule()',
    option: 'sideWasm',
  },
} as const;
/** The number of the part that is never missing. */
export const MAIN_PART = 0;
export type PartName = keyof typeof PARTS;
export type PartSources = Readonly<Record<PartName, PartSource>>;

/** tools/split-wasm.mjs gives the imports this name. */
const MAIN = 'main';

const isAddress = (source: PartSource): source is string | URL =>
  typeof source === 'string' || source instanceof URL;

const isFile = (source: string | URL): boolean => isNode && !/^(https?|data|blob):/.test(String(source));

export class EnginePart {
  #missing: boolean;
  #loading: Promise<void> | undefined;

  /** `exports` are those of the main module; without a `source` the engine is whole. The part uses `other`. */
  constructor(
    protected readonly wasm: Wasm,
    private readonly exports: WebAssembly.Exports,
    readonly name: PartName,
    readonly source: PartSource | undefined,
    private readonly other?: EnginePart,
  ) {
    this.#missing = source !== undefined;
    if (this.#missing) wasm.call.TF_WasmPartIsMissing(this.number);
  }

  get number(): number {
    return PARTS[this.name].number;
  }

  get isMissing(): boolean {
    return this.#missing;
  }

  /** Loads it unless it is loaded. After a failure, the next call tries again. */
  async load(): Promise<void> {
    if (!this.#missing) return;
    this.#loading ??= this.fetch().finally(() => (this.#loading = undefined));
    await this.#loading;
  }

  /** Loads it before this returns, which blocks the thread. */
  loadAtOnce(): void {
    const { source } = this;
    if (source === undefined || !this.#missing) return;
    this.other?.loadAtOnce();
    try {
      const module =
        source instanceof WebAssembly.Module
          ? source
          : new WebAssembly.Module(isAddress(source) ? readAtOnce(source) : source);
      this.start(module);
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      const { title, contents, loader } = PARTS[this.name];
      throw new UnavailableError(
        `${title}, ${contents}, cannot be loaded at once: ${(error as Error).message}; call \`await tf.${loader}\` before`,
      );
    }
  }

  private async fetch(): Promise<void> {
    const source = this.source!;
    const { title, contents, option } = PARTS[this.name];
    const advice = isAddress(source)
      ? `\nIt is ${title}, ${contents}: copy it from node_modules/tfcore-wasm/dist to the place of the other .wasm files, or name its place: init({ ${option} })`
      : '';
    const [module] = await Promise.all([compile(source, {}, advice), this.other?.load()]);
    if (!this.#missing) return;
    try {
      this.start(module);
    } catch (error) {
      /* Older browsers start a large module only in the background, so that none was started at once meanwhile. */
      if (!(error instanceof RangeError)) throw error;
      await WebAssembly.instantiate(module, this.imports);
      this.started();
    }
  }

  private get imports(): WebAssembly.Imports {
    return { [MAIN]: this.exports as WebAssembly.ModuleImports };
  }

  private start(module: WebAssembly.Module): void {
    try {
      new WebAssembly.Instance(module, this.imports);
    } catch (error) {
      if (error instanceof RangeError) throw error;
      throw new UnavailableError(
        `${PARTS[this.name].title} does not fit the engine: ${(error as Error).message} (is it of another version or another build?)`,
      );
    }
    this.started();
  }

  private started(): void {
    this.#missing = false;
    this.wasm.call.TF_WasmPartIsLoaded(this.number);
  }
}

/** Graphs can be made before the kernels for rarer types are there. */
export class SidePart extends EnginePart {
  /** Whether steps may need it, and it is not loaded. */
  get isWanted(): boolean {
    return this.isMissing && this.wasm.call.TF_WasmSideKernelsAreWanted() !== 0;
  }
}

export class EngineParts {
  readonly training: EnginePart;
  readonly side: SidePart;

  constructor(
    private readonly wasm: Wasm,
    exports: WebAssembly.Exports,
    sources: PartSources | undefined,
  ) {
    this.training = new EnginePart(wasm, exports, 'training', sources?.training);
    this.side = new SidePart(wasm, exports, 'side', sources?.side, this.training);
  }

  private get missing(): EnginePart[] {
    return [this.training, this.side].filter(({ isMissing }) => isMissing);
  }

  /** Loads those of the parts whose bits, 1 << number, are set. */
  async load(bits: number): Promise<void> {
    await Promise.all(this.missing.filter(({ number }) => bits & (1 << number)).map((part) => part.load()));
  }

  loadAllAtOnce(): void {
    for (const part of this.missing) part.loadAtOnce();
  }

  /** For the engine: loads the part of a number. Returns 0, or the text of an error, which the engine frees. */
  loadNumber(number: number): number {
    try {
      this.missing.find((part) => part.number === number)?.loadAtOnce();
      return 0;
    } catch (error) {
      return this.wasm.newText((error as Error).message);
    }
  }
}

/** The bytes at an address, without waiting for the event loop. */
function readAtOnce(source: string | URL): BufferSource {
  if (!isFile(source)) return requestAtOnce(String(source));
  return nodeModule('node:fs').readFileSync(String(source).startsWith('file:') ? new URL(source) : source);
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
