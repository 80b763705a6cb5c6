// Timing two implementations of the same work against each other.

/** Calls `work` until `milliseconds` have passed; returns the number of calls and the time they took. */
async function repeat(work, milliseconds, atMost = Infinity) {
  const started = performance.now();
  let calls = 0;
  let elapsed = 0;
  while (elapsed < milliseconds && calls < atMost) {
    const pending = work();
    if (pending instanceof Promise) await pending;
    calls++;
    elapsed = performance.now() - started;
  }
  return { calls, elapsed };
}

/** Calls `work` `count` times, without looking at the clock in between; returns milliseconds per call. */
async function time(work, count) {
  const started = performance.now();
  for (let i = 0; i < count; i++) {
    const pending = work();
    if (pending instanceof Promise) await pending;
  }
  return (performance.now() - started) / count;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Milliseconds per call of each of `contestants` (a record of functions), one figure a round. Engines first run slower code of
 * their own making: each is warmed up. The rounds alternate, so that whatever else the machine does meets all of them alike.
 * `beforeRound` is called before each.
 */
export async function compare(contestants, { warmUp, rounds, roundTime, beforeRound }) {
  const entries = [];
  for (const [name, work] of Object.entries(contestants)) {
    await repeat(work, warmUp);
    const { calls, elapsed } = await repeat(work, roundTime);
    entries.push({ name, work, count: Math.max(1, Math.round((calls * roundTime) / elapsed)), times: [] });
  }
  for (let round = 0; round < rounds; round++) {
    beforeRound?.();
    for (const entry of round % 2 ? entries.toReversed() : entries) entry.times.push(await time(entry.work, entry.count));
  }
  return Object.fromEntries(entries.map(({ name, times }) => [name, times]));
}

/** Runs `work` for a while, untimed. */
export async function warmUp(work, milliseconds) {
  await repeat(work, milliseconds);
}

/** The largest difference between two lists of numbers, in units of the largest number. */
export function relativeDifference(actual, expected) {
  if (actual.length !== expected.length) return Infinity;
  let scale = 0;
  let difference = 0;
  for (let i = 0; i < expected.length; i++) {
    scale = Math.max(scale, Math.abs(expected[i]));
    // A NaN on either side makes the difference NaN, which is below no bound.
    difference = Math.max(difference, Math.abs(actual[i] - expected[i]));
  }
  return difference === 0 ? 0 : difference / scale;
}
