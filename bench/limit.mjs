import { repeat } from './measure.mjs';

/**
 * The current peak of the multiply-add units of one core, in GFLOP/s: the mean over `milliseconds`, as the cases are
 * timed, not the best. `limits` is the module of bench/c/gemm.c.
 */
export function limitNow(limits, milliseconds) {
  const started = performance.now();
  let [passes, time] = [0, 0];
  do {
    time += 1 / limits._bench_peak_gflops(0); // one pass, always of the same work
    passes++;
  } while (performance.now() - started < milliseconds);
  return passes / time;
}

/** The milliseconds in which a page copies arrays into an engine, and gets copies of others. */
export async function copyingNow({ inputs, outputs }, milliseconds) {
  const inside = inputs.map((array) => array.slice());
  const copies = [];
  const copy = () => {
    for (const [i, array] of inputs.entries()) inside[i].set(array);
    for (const [i, array] of outputs.entries()) copies[i] = array.slice();
  };
  const { calls, elapsed } = await repeat({ run: copy }, milliseconds);
  return elapsed / calls;
}
