/** init(): one engine for each set of options, shared by all callers. */
import { checkOptions } from './base/arguments.js';
import { Variant, chooseBuild } from './engine/choose-build.js';
import { InitOptions, loadRuntime } from './engine/load.js';
import { revectorize } from './engine/revectorize.js';
import { TF, makeTF } from './tf.js';

interface Loaded {
  readonly variant: Variant;
  readonly threads: number;
  /** True if the caller did not name a build: another build is used if workers are refused. */
  readonly mayDiffer: boolean;
  readonly wasm: InitOptions['wasm'];
  readonly trainingWasm: InitOptions['trainingWasm'];
  readonly sideWasm: InitOptions['sideWasm'];
  readonly revectorize: boolean;
  /** The signal of the caller who began to load. */
  readonly signal: AbortSignal | undefined;
  readonly tf: Promise<TF>;
}

const engines: Loaded[] = [];

const sameSource = (a: InitOptions['wasm'], b: InitOptions['wasm']): boolean =>
  a === b || (a instanceof URL && b instanceof URL && a.href === b.href);

/** `promise`, or a rejection with the signal's reason as soon as it aborts. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Loads the engine: the fastest build that this host runs, or `variant`. Calling again with the same options
 * returns the same engine; after a failure it tries again.
 */
export async function init(options: InitOptions = {}): Promise<TF> {
  checkOptions<InitOptions>('init', options, {
    wasm: 'anything',
    trainingWasm: 'anything',
    sideWasm: 'anything',
    variant: 'a string',
    threads: 'a number',
    revectorize: 'true or false',
    signal: 'an AbortSignal',
    onProgress: 'a function',
  });
  options.signal?.throwIfAborted();
  const choice = chooseBuild(options);
  if (options.revectorize) revectorize();
  const { variant, threads } = choice;
  const mayDiffer = variant.endsWith('threads') && choice.withoutThreads !== undefined;
  const isOurs = (one: Loaded) =>
    one.variant === variant &&
    one.threads === threads &&
    one.mayDiffer === mayDiffer &&
    sameSource(one.wasm, options.wasm) &&
    sameSource(one.trainingWasm, options.trainingWasm) &&
    sameSource(one.sideWasm, options.sideWasm) &&
    one.revectorize === (options.revectorize ?? false);
  for (;;) {
    const known = engines.find(isOurs);
    const engine = known ?? {
      variant,
      threads,
      mayDiffer,
      wasm: options.wasm,
      trainingWasm: options.trainingWasm,
      sideWasm: options.sideWasm,
      revectorize: options.revectorize ?? false,
      signal: options.signal,
      tf: loadRuntime(options, choice).then(makeTF),
    };
    if (!known) {
      engines.push(engine);
      engine.tf.catch(() => engines.splice(engines.indexOf(engine), 1));
    }
    try {
      return await orAborted(engine.tf, options.signal);
    } catch (error) {
      /* The caller who had begun to load aborted, but this one did not. */
      const othersAbort = known?.signal?.aborted && !options.signal?.aborted;
      if (!othersAbort) throw error;
    }
  }
}
