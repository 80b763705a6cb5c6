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
