/** Text in columns. */

/** Lines of cells, each column as wide as its widest cell. `right`: columns of numbers. */
export function columns(
  rows: readonly (readonly string[])[],
  { indent = 0, right = [] }: { indent?: number; right?: readonly number[] } = {},
): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  return rows
    .map((row) => {
      const cells = row.map((cell, i) =>
        right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!),
      );
      return `${' '.repeat(indent)}${cells.join('  ')}`.trimEnd() + '\n';
    })
    .join('');
}
