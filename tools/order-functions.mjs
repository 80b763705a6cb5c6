// The order of a module's functions in which they compress best: compressors look back by 32 KB, so functions that resemble
// each other have to be near each other.

/** Functions are compared by their runs of so many bytes. */
const RUN = 5;
/** A function is compared with so many before it. */
const NEAR = 16;
/** Runs that more functions have say little. */
const MOST = 60;

function runsOf(bytes) {
  const runs = new Set();
  for (let i = 0; i + RUN <= bytes.length; i++) {
    let hash = 0;
    for (let j = i; j < i + RUN; j++) hash = (Math.imul(hash, 0x01000193) ^ bytes[j]) >>> 0;
    runs.add(hash);
  }
  return runs;
}

/** The functions that have each run. */
function ownersOf(runs) {
  const owners = new Map();
  runs.forEach((set, i) => {
    for (const run of set) {
      if (!owners.has(run)) owners.set(run, []);
      owners.get(run).push(i);
    }
  });
  return owners;
}

/** What the functions have in common with the last NEAR that were placed. */
class Similarity {
  #last = [];
  /** In how many of the last functions a run is. */
  #present = new Map();

  constructor(runs) {
    this.runs = runs;
    this.owners = ownersOf(runs);
    this.common = new Float64Array(runs.length);
  }

  place(i) {
    this.#last.push(i);
    for (const run of this.runs[i]) this.#count(run, 1);
    if (this.#last.length > NEAR) for (const run of this.runs[this.#last.shift()]) this.#count(run, -1);
  }

  #count(run, change) {
    const before = this.#present.get(run) ?? 0;
    this.#present.set(run, before + change);
    const owners = this.owners.get(run);
    if ((before === 0) === (before + change === 0) || owners.length > MOST) return;
    for (const i of owners) this.common[i] += change * (0.2 + 1 / owners.length);
  }

  /** The function that has most in common with the last ones, for its size; undefined if none has anything. */
  best(isPlaced) {
    let best;
    let most = 1e-6; // sums that should be zero are not quite
    for (let i = 0; i < this.common.length; i++) {
      const similarity = isPlaced[i] ? 0 : this.common[i] / Math.sqrt(this.runs[i].size + 30);
      if (similarity > most) [best, most] = [i, similarity];
    }
    return best;
  }
}

/** The indices of the bodies in the order to have them. */
export function orderBySimilarity(bodies) {
  const similarity = new Similarity(bodies.map(runsOf));
  const isPlaced = new Uint8Array(bodies.length);
  const largestFirst = bodies.map((_, i) => i).sort((a, b) => bodies[b].length - bodies[a].length || a - b);
  const order = [];
  for (const first of largestFirst) {
    for (let i = isPlaced[first] ? undefined : first; i !== undefined; i = similarity.best(isPlaced)) {
      isPlaced[i] = 1;
      order.push(i);
      similarity.place(i);
    }
  }
  return order;
}
