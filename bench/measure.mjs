// Times two implementations of the same work against each other.

/** Work is a function, or { prepare, run }, of which only run is timed. */
const partsOf = (work) => (typeof work === 'function' ? { run: work } : work);

async function settle(result) {
  if (result instanceof Promise) await result;
}

/** The milliseconds for `count` calls; without preparation the clock is not read in between. */
async function elapsedOf({ prepare, run }, count) {
  let elapsed = 0;
  for (let done = 0; done < count; ) {
    await settle(prepare?.());
    const started = performance.now();
    do {
      const pending = run();
      if (pending instanceof Promise) await pending;
      done++;
    } while (!prepare && done < count);
    elapsed += performance.now() - started;
  }
  return elapsed;
}

/**
 * Calls `work`, { prepare, run }, until `milliseconds` have passed; returns the number of calls and their time, with the
 * arguments prepared in advance.
 */
export async function repeat(work, milliseconds) {
  const started = performance.now();
  let [calls, elapsed] = [0, 0];
  while (elapsed < milliseconds) {
    await elapsedOf(work, 1);
    calls++;
    elapsed = performance.now() - started;
  }
  return { calls, elapsed };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Milliseconds per call of each of `contestants` (a record of work), one figure per round. Each is warmed up,
 * because engines first run slower code. The rounds alternate, so that other load of the machine affects all
 * of them alike. `beforeRound` is called before each.
 */
export async function compare(contestants, { warmUp, rounds, roundTime, beforeRound }) {
  const entries = [];
  for (const [name, contestant] of Object.entries(contestants)) {
    const work = partsOf(contestant);
    await repeat(work, warmUp);
    const { calls, elapsed } = await repeat(work, roundTime);
    entries.push({ name, work, count: Math.max(1, Math.round((calls * roundTime) / elapsed)), times: [] });
  }
  for (let round = 0; round < rounds; round++) {
    await beforeRound?.();
    for (const entry of round % 2 ? entries.toReversed() : entries)
      entry.times.push((await elapsedOf(entry.work, entry.count)) / entry.count);
  }
  return Object.fromEntries(entries.map(({ name, times }) => [name, times]));
}

/** Runs `work` for a while, untimed. */
export async function warmUp(work, milliseconds) {
  await repeat(partsOf(work), milliseconds);
}

/** The largest difference between two lists of numbers, in units of the largest number. */
export function relativeDifference(actual, expected) {
  if (actual.length !== expected.length) return Infinity;
  let scale = 0;
  let difference = 0;
  for (let i = 0; i < expected.length; i++) {
    scale = Math.max(scale, Math.abs(expected[i]));
    // A NaN on either side makes the difference NaN, which fails every bound.
    difference = Math.max(difference, Math.abs(actual[i] - expected[i]));
  }
  return difference === 0 ? 0 : difference / scale;
}
