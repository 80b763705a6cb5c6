/** The features of this host, and the choice of a build. */
import { BUILDS, Variant } from './builds.js';
import { InvalidArgumentError, UnavailableError } from '../base/errors.js';
import { isNode, nodeModule } from '../base/host.js';

export type { Variant } from './builds.js';

/** A build to load. */
export interface Choice {
  readonly variant: Variant;
  readonly threads: number;
  /** Why it is not the package's fastest build; undefined if it is, or if the caller named it. */
  readonly reason: string | undefined;
  /** The build to use if workers are refused; undefined if the caller named a build with threads. */
  readonly withoutThreads: Variant | undefined;
}

/** At most the size of the engine's pool. */
const MAX_THREADS = 64;

/** Whether the engine knows all that is in a module of these sections. */
const isValid = (...sections: number[][]): boolean =>
  WebAssembly.validate(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()])); // magic, version

/** Whether it knows the code of a function () -> v128. */
function isKnown(...code: number[]): boolean {
  const body = [0, ...code, 0x0b];
  return isValid(
    [1, 5, 1, 0x60, 0, 1, 0x7b], // type: () -> v128
    [3, 2, 1, 0], // one function of that type
    [10, body.length + 2, 1, body.length, ...body],
  );
}

const SPLAT = [0x41, 0, 0xfd, 0x0f]; // i32.const 0, i8x16.splat
const SHARED_MEMORY = [5, 4, 1, 3, 1, 1]; // one memory, shared, of one page

/** Whether threads can share memory here. */
const mayShare = (): boolean =>
  isNode || (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true;

/** The features of this host. */
export function detectFeatures(): { simd: boolean; relaxed: boolean; threads: boolean } {
  return {
    simd: isKnown(...SPLAT),
    relaxed: isKnown(...SPLAT, ...SPLAT, 0xfd, 0x80, 0x02), // i8x16.relaxed_swizzle
    /* To make such a memory would take longer: V8 reserves gigabytes of addresses, and releases them in its next collection. */
    threads: mayShare() && typeof SharedArrayBuffer === 'function' && isValid(SHARED_MEMORY),
  };
}

/** The build for `options` and this host, and the number of threads that compute in it. */
export function chooseBuild(options: { variant?: Variant; threads?: number }): Choice {
  const host = detectFeatures();
  if (!host.simd)
    throw new UnavailableError('this JavaScript engine has no WebAssembly SIMD, which tfcore-wasm needs');
  const choice =
    options.variant === undefined
      ? fastest(host, options.threads !== 1)
      : { variant: asked(options.variant, host), reason: undefined, withoutThreads: undefined };
  if (!choice.variant.endsWith('threads')) return { ...choice, threads: 1 };
  const threads = options.threads ?? Math.min(processors(), 8);
  if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
    throw new InvalidArgumentError(`threads must be a whole number from 1 to ${MAX_THREADS}, not ${threads}`);
  }
  return { ...choice, threads };
}

type Host = ReturnType<typeof detectFeatures>;

/** The build that the caller named, if the host can run it. */
function asked(variant: Variant, host: Host): Variant {
  if (!(variant in BUILDS))
    throw new InvalidArgumentError(`variant '${variant}' is none of ${Object.keys(BUILDS).join(', ')}`);
  if (variant.startsWith('relaxed') && !host.relaxed) {
    throw new UnavailableError(
      `variant '${variant}' needs relaxed SIMD, which this engine lacks (Node 20: run with --experimental-wasm-relaxed-simd)`,
    );
  }
  if (variant.endsWith('threads') && !host.threads) {
    throw new UnavailableError(
      `variant '${variant}' needs threads: the page must be cross-origin isolated (headers COOP: same-origin and COEP: require-corp)`,
    );
  }
  return variant;
}

/** The fastest build that the host runs. */
function fastest(host: Host, threadsAreWanted: boolean): Omit<Choice, 'threads'> {
  const reasons: string[] = [];
  const single: Variant = host.relaxed && 'relaxed' in BUILDS ? 'relaxed' : 'simd';
  const parallel: Variant = `${single}-threads`;
  if (!host.relaxed) reasons.push('this engine has no relaxed SIMD');
  else if (!('relaxed' in BUILDS)) reasons.push('this entry of the package holds one build');
  if (threadsAreWanted && !host.threads)
    reasons.push(
      `one thread: ${mayShare() ? 'this engine has no shared memory' : 'the page is not cross-origin isolated'}`,
    );
  const useThreads = threadsAreWanted && host.threads && parallel in BUILDS;
  return {
    variant: useThreads ? parallel : single,
    withoutThreads: single,
    reason: reasons.join('; ') || undefined,
  };
}

function processors(): number {
  return isNode ? nodeModule('node:os').availableParallelism() : navigator.hardwareConcurrency || 1;
}
