// Prints the results of whole-models.mjs.
import { median } from './measure.mjs';

const milliseconds = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** A cell with a value for each number of threads. */
const cell = (values, show) => values.map((value) => (value === undefined ? '-' : show(value))).join(', ');

/** The time of a peer divided by ours, in the median round; undefined if one of them has no time. */
export function ratioOf({ times = {} }, name) {
  if (!times.ours || !times[name]) return undefined;
  return median(times[name].map((time, round) => time / times.ours[round]));
}

/** The same for the fastest peer. */
export function bestRatioOf(result) {
  const peers = Object.keys(result.medians).filter((name) => name !== 'ours');
  const known = peers.map((name) => ratioOf(result, name)).filter((ratio) => ratio !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function geometricMean(values) {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  return Math.exp(known.reduce((sum, value) => sum + Math.log(value), 0) / known.length);
}

function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[0]) : text.padStart(widths[column])))
      .join('   ')
      .trimEnd(),
  );
}

/**
 * Milliseconds until the first run, of rows [{ name, times }]; the load contains a reading. The last column is what comes after the
 * reading, divided by 1.5 times the second run and the reading.
 */
export function firstRunsTable(rows) {
  const names = Object.keys(rows[0].times);
  const body = rows.map(({ name, times }) => {
    const taken = times.load - times.reading + times.plan + times['first run'];
    const wanted = 1.5 * times['second run'] + times.reading;
    return [name, ...names.map((column) => milliseconds(times[column])), (taken / wanted).toFixed(2)];
  });
  return aligned([['', ...names, 'taken / wanted'], ...body]).join('\n');
}

/** Why engines have no time for a model; `told` is what they print besides. */
function reasonsOf({ name, results }, threads) {
  const all = threads.flatMap((count) => {
    const { errors, told } = results[count];
    const reasons = Object.entries(errors).map(([engine, why]) => `${engine}: ${why}`);
    return reasons.length > 0 ? [...reasons, ...told] : [];
  });
  return [...new Set(all)].map((why) => `${name}, ${why}`);
}

/** The milliseconds that the multiply-adds take at the peak of all threads. */
function leastTimeOf({ multiplyAdds, peak }, threads) {
  return multiplyAdds ? (2e-6 * multiplyAdds) / (peak * threads) : undefined;
}

/** The milliseconds that these or the reading of the weights take, whichever is longer, and to copy what goes in and out. */
function limitOf(result, threads) {
  const arithmetic = leastTimeOf(result, threads);
  const reading = (1e-6 * result.weightBytes) / (result.reading * threads);
  return arithmetic === undefined ? undefined : Math.max(arithmetic, reading || 0) + result.copying;
}

/** Milliseconds by engine, each with the numbers of threads in turn; below, why cells are empty. */
export function modelsTable(rows, { names, threads, rounds }) {
  const each = (row, of) => threads.map((count) => of(row.results[count]));
  const ratio = (value) => value.toFixed(2);
  const body = rows.map((row) => [
    row.name,
    ...names.map((name) =>
      cell(
        each(row, ({ medians }) => medians[name]),
        milliseconds,
      ),
    ),
    cell(each(row, bestRatioOf), ratio),
    ...[leastTimeOf, limitOf].map((of) =>
      cell(
        threads.map((count) => of(row.results[count], count)),
        milliseconds,
      ),
    ),
  ]);
  const meansOf = (of) =>
    cell(
      threads.map((count) => geometricMean(rows.map((row) => of(row.results[count])))),
      ratio,
    );
  const means = names.map((name) => (name === 'ours' ? '' : meansOf((result) => ratioOf(result, name))));
  const reasons = rows.flatMap((row) => reasonsOf(row, threads));
  return [
    `Milliseconds, medians of ${rounds} rounds, engines in turn; threads: ${threads.join(', ')}`,
    '',
    ...aligned([
      ['', ...names, 'best peer / ours', 'at the peak', 'limit'],
      ...body,
      ['geometric mean of peer / ours', ...means, meansOf(bestRatioOf), '', ''],
    ]),
    '',
    "At the peak: what the multiply-adds of the direct sums take at the peak of the cores, measured in the same rounds. Winograd's form needs fewer.",
    'The limit: these or the reading of the weights, whichever takes longer, and the copies of what goes in and out, of one thread.',
    ...reasons,
  ].join('\n');
}

/** The times of our ops in one model, the longest first. */
export function opsTable(name, ops) {
  const sum = ops.reduce((all, { time }) => all + time, 0);
  const rows = ops.map(({ op, count, time }) => [
    op,
    `${count}`,
    `${time.toFixed(3)} ms`,
    `${((100 * time) / sum).toFixed(1)} %`,
  ]);
  return [`${name}: ${sum.toFixed(3)} ms`, ...aligned(rows).map((line) => `  ${line}`), ''].join('\n');
}
