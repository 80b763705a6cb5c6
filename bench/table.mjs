// Prints the results as tables.

/**
 * The requirements of `npm run bench`: products from 256 on, by build. A ratio is the peer's time divided by
 * ours.
 */
export const BAR = { from: 256, simd: 1, relaxed: 1.3 };

const milliseconds = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

const isBarred = (row) => row.group === 'matmul' && row.size >= BAR.from;

export function belowBar({ variant, cases }) {
  return cases.filter((row) => isBarred(row) && !(row.ratio >= BAR[variant]));
}

/** Work per second. */
function rate({ flops, nodes }, time) {
  if (flops) return `${(flops / time / 1e6).toFixed(1)} GFLOP/s`;
  return nodes ? `${(nodes / time / 1e3).toFixed(2)} Mnode/s` : '';
}

/** One host and build: the cases, ours beside the peer's. */
export function tableOf({ host, variant, limit, cases }) {
  const head = ['', 'ours ms', 'rate', 'of limit', 'peer ms', 'rate', 'peer / ours'];
  const rows = cases.map((row) => {
    if (row.error) return [row.name, ...head.slice(1).map(() => '-')];
    const ours = [
      milliseconds(row.ours),
      rate(row, row.ours),
      row.flops ? `${((100 * row.flops) / row.ours / 1e6 / row.limit).toFixed(0)} %` : '',
    ];
    if (row.peer === undefined) return [row.name, ...ours, '', '', ''];
    return [
      row.name,
      ...ours,
      milliseconds(row.peer),
      rate(row, row.peer),
      `${row.ratio.toFixed(2)} x${isBarred(row) && row.ratio < BAR[variant] ? ' !' : '  '}`,
    ];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('   ')
      .trimEnd();
  const title = `${host}, ${variant}, one thread; limit of the multiply-add units ${limit.toFixed(1)} GFLOP/s`;
  const failures = cases.filter((row) => row.error).map((row) => `${row.name}: ${row.error}`);
  const others = cases.flatMap((row) =>
    (row.others ?? []).map(
      ({ name, time, ratio }) =>
        `${row.name}, ${name}: ${milliseconds(time)} ms, ${ratio.toFixed(2)} x of our time`,
    ),
  );
  return [title, '', line(head), ...rows.map(line), ...others, ...failures, ''].join('\n');
}

/** Whether the requirements are met, in a line for each build. */
export function verdict(results) {
  return ['simd', 'relaxed']
    .flatMap((variant) => {
      const tables = results.filter((result) => result.variant === variant && result.cases.some(isBarred));
      if (tables.length === 0) return [];
      const asked = `${variant}: at least ${BAR[variant].toFixed(1)} x tfjs on MatMul from ${BAR.from} on`;
      return tables.map((table) => {
        const below = belowBar(table);
        return `${asked}, ${table.host}: ${below.length === 0 ? 'met' : `missed by ${below.map((row) => `${row.name} (${row.error ? 'failed' : row.ratio.toFixed(2)})`).join('; ')}`}`;
      });
    })
    .join('\n');
}
