/** Suggestions for messages about unknown names. */

/**
 * The number of letters to add, remove, change or swap with their neighbour; more than `limit` counts as
 * limit + 1.
 */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    if (Math.min(...next) > limit) return limit + 1;
    [before, row] = [row, next];
  }
  return row[b.length]!;
}

/** Normalises differences that do not count: case, and how words are joined. */
const plain = (name: string): string => name.toLowerCase().replace(/[_\-.]/g, '');
const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** Longer names are not suggested, because they cost too much to compare. */
const LONGEST = 200;
const MOST = 3;

/** The names most similar to `name`, the closest first. */
export function closest(name: string, candidates: Iterable<string>): string[] {
  if (name.length > LONGEST) return [];
  const [wanted, limit] = [plain(name), name.length < 4 ? 1 : 2];
  const found: { candidate: string; far: number }[] = [];
  for (const candidate of new Set(candidates)) {
    if (candidate.length > LONGEST || candidate === '') continue;
    const far = distance(wanted, plain(candidate), limit);
    if (far <= limit && far < wanted.length) found.push({ candidate, far });
    else if (
      candidate.includes('/') &&
      wanted.length > 2 &&
      distance(wanted, plain(lastPart(candidate)), 1) <= 1
    )
      found.push({ candidate, far: limit + 1 });
  }
  return found
    .sort((a, b) => a.far - b.far)
    .slice(0, MOST)
    .map(({ candidate }) => candidate);
}

/** '; did you mean 'a' or 'b'? Known are a, b, c', without the question if no name is similar. */
export function meantOrKnown(name: string, known: readonly string[], begin: string): string {
  const meant = didYouMean(name, known);
  const list = known.length === 0 ? 'none' : known.join(', ');
  return meant === '' ? `; ${begin} ${list}` : `${meant} ${begin[0]!.toUpperCase()}${begin.slice(1)} ${list}`;
}

/** '; did you mean 'a' or 'b'?', or '' if no name is similar. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const names = closest(name, candidates).map((near) => `'${near}'`);
  return names.length > 0 ? `; did you mean ${names.join(' or ')}?` : '';
}
