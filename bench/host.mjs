// Runs in a host (Node, or a page): measures the cases with one build of ours and the peer in the same
// process.
import { makeCases } from './cases.mjs';
import { limitNow } from './limit.mjs';
import { compare, median, relativeDifference, warmUp } from './measure.mjs';

const TOLERANCE = 1e-3;
const SETTINGS = { warmUp: 250, roundTime: 60 };

/**
 * Milliseconds of each round, and derived figures; for products also the peak of the multiply-add units
 * (GFLOP/s) in the same rounds. A failed case has `error` instead.
 */
async function measureCase(
  { name, group, size, flops, nodes, ours, peer, peerOf = 'tfjs' },
  { tf, limits, rounds, firstWarmUp, ...peers },
) {
  const about = { name, group, size, flops, nodes };
  const made = {};
  try {
    made.ours = await ours(tf);
    const result = await made.ours.result();
    if (peer) made.peer = await peer(peers[peerOf]);
    const difference = made.peer && relativeDifference(result, await made.peer.result());
    if (made.peer && !(difference < TOLERANCE)) throw new Error(`the results differ by ${difference}`);
    await warmUp(made.ours, firstWarmUp);
    const limit = [];
    const beforeRound = flops ? () => limit.push(limitNow(limits, SETTINGS.roundTime / 2)) : undefined;
    const times = await compare(made, { ...SETTINGS, rounds, beforeRound });
    const compared = made.peer && {
      peer: median(times.peer),
      ratio: median(times.peer.map((time, i) => time / times.ours[i])),
    };
    return {
      ...about,
      difference,
      times,
      ours: median(times.ours),
      ...compared,
      limit: flops && median(limit),
    };
  } catch (error) {
    return { ...about, error: String(error) };
  } finally {
    for (const contestant of Object.values(made)) await contestant.close();
  }
}

/**
 * Measures the cases whose name contains one of `filter`. The engines are `tf` and the peers: `tfjs`, and `onnxruntime` ({ ort,
 * readGraph }) or undefined. `limits` is the module of bench/c/gemm.c in the
 * same build as ours, `digits` the content of digits.csv.gz; `firstWarmUp` is the warm-up time of the first
 * case.
 */
export async function measureCases({ digits, filter, firstWarmUp, log, ...engines }) {
  const cases = makeCases(digits).filter(
    ({ name, peerOf = 'tfjs' }) =>
      engines[peerOf] && (filter.length === 0 || filter.some((word) => name.includes(word))),
  );
  const limit = engines.limits._bench_peak_gflops(500);
  const measured = [];
  for (const entry of cases) {
    log(entry.name);
    measured.push(
      await measureCase(entry, { ...engines, firstWarmUp: measured.length === 0 ? firstWarmUp : 0 }),
    );
  }
  return {
    variant: engines.tf.variant,
    limit: Math.max(limit, ...measured.map((row) => row.limit ?? 0)),
    cases: measured,
  };
}
