// Shared by the specs: the engine, and helpers.
import { detectFeatures, init } from '../../npm/dist/index.js';

export const isPage = typeof window === 'object';

/** Where the sessions of the specs run, unless they name a target: grpc-sessions.node.test.mjs sets it. */
const TARGET = isPage ? undefined : process.env.TFCORE_TEST_TARGET;

/** Whether steps run in this thread, so that they may be synchronous. */
export const isHere = !TARGET;

/** The build that the specs run on: the host's fastest with one thread. */
export async function engine() {
  const tf = await init({ threads: 1 });
  if (!TARGET) return tf;
  const { Session } = tf;
  tf.Session = class extends Session {
    constructor(graph, options) {
      super(graph, { target: TARGET, ...options });
    }
  };
  return tf;
}

/* Sessions of a server share its variables. */
if (TARGET) afterEach(async () => (await init({ threads: 1 })).Session.reset(TARGET));

/** The builds that this host can run. */
export function hostVariants() {
  const { simd, relaxed, threads } = detectFeatures();
  return [
    simd && 'simd',
    relaxed && 'relaxed',
    simd && threads && 'simd-threads',
    relaxed && threads && 'relaxed-threads',
  ].filter(Boolean);
}

/** Runs `body(graph, session)` with a fresh graph and a session with these options, and frees both. */
export async function withGraph(tf, body, options) {
  const graph = new tf.Graph();
  const session = new tf.Session(graph, options);
  try {
    return await body(graph, session);
  } finally {
    await session.close();
    graph.dispose();
  }
}

/**
 * The bytes that `work` leaves allocated. What earlier specs abandoned may be collected meanwhile; then there are fewer than
 * before, and the work is measured again.
 */
export async function bytesLeft(tf, work) {
  let left = -1;
  for (let tries = 0; left < 0 && tries < 10; tries++) {
    const before = tf.memory().liveBytes;
    await work();
    left = tf.memory().liveBytes - before;
  }
  return left;
}

/**
 * True if two lists of numbers differ by at most `tolerance`, relative to the larger of 1 and the expected
 * number.
 */
export function isClose(got, expected, tolerance = 1e-6) {
  return (
    got.length === expected.length &&
    [...got].every(
      (value, i) => Math.abs(Number(value) - expected[i]) <= tolerance * Math.max(1, Math.abs(expected[i])),
    )
  );
}

/** A file of the repository. */
export async function readBytes(path) {
  if (isPage) return new Uint8Array(await (await fetch(`/${path}`)).arrayBuffer());
  const { readFile } = await import('node:fs/promises');
  return new Uint8Array(await readFile(new URL(`../../${path}`, import.meta.url)));
}

/** A text file of the repository. */
export const readText = async (path) => new TextDecoder().decode(await readBytes(path));
