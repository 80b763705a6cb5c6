// Prints the results of whole-models.mjs.

const milliseconds = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** A cell with a value for each number of threads. */
const cell = (values, show) =>
  values.map((value) => (value === undefined ? '-' : show(value))).join(', ');

/** The time of the best peer divided by ours. */
export function ratioOf({ medians }) {
  const { ours, ...peers } = medians;
  const times = Object.values(peers);
  return ours === undefined || times.length === 0 ? undefined : Math.min(...times) / ours;
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
    cell(each(row, ratioOf), ratio),
  ]);
  const meansOf = (of) => cell(
    threads.map((count) => geometricMean(rows.map((row) => of(row.results[count])))),
    ratio,
  );
  const means = names.map((name) =>
    name === 'ours' ? '' : meansOf(({ medians }) => medians[name] && medians.ours && medians[name] / medians.ours),
  );
  const reasons = rows.flatMap((row) =>
    threads.flatMap((count) =>
      Object.entries(row.results[count].errors).map(([name, why]) => `${row.name}, ${name}, threads ${count}: ${why}`),
    ),
  );
  return [
    `Milliseconds, medians of ${rounds} rounds, engines in turn; threads: ${threads.join(', ')}`,
    '',
    ...aligned([
      ['', ...names, 'best peer / ours'],
      ...body,
      ['geometric mean of peer / ours', ...means, meansOf(ratioOf)],
    ]),
    '',
    ...reasons,
  ].join('\n');
}

/** The times of our ops in one model, the longest first. */
export function opsTable(name, ops) {
  const sum = ops.reduce((all, { self }) => all + self, 0);
  const rows = ops
    .toSorted((a, b) => b.self - a.self)
    .map(({ op, count, self }) => [op, `${count}`, `${self.toFixed(3)} ms`, `${((100 * self) / sum).toFixed(1)} %`]);
  return [`${name}: ${sum.toFixed(3)} ms`, ...aligned(rows).map((line) => `  ${line}`), ''].join('\n');
}
