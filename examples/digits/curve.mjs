// The loss curve as an SVG, and the scale that the demo page uses too.

/**
 * A logarithmic scale for losses: `ticks`, the powers of ten to mark, and `position(loss)`, 0 at the bottom
 * and 1 at the top. It ranges from the power of ten below the least loss to the largest loss, and always
 * includes 0.01 to 1.
 */
export function logScale(losses) {
  const exponents = losses.filter((loss) => loss > 0).map(Math.log10);
  const low = Math.floor(Math.min(-2, ...exponents));
  const high = Math.max(0, ...exponents);
  return {
    ticks: Array.from({ length: Math.floor(high) - low + 1 }, (_, i) => Number(`1e${low + i}`)),
    position: (loss) => (Math.log10(Math.max(loss, Number(`1e${low}`))) - low) / (high - low),
  };
}

/** An SVG of the losses, one per epoch, on a logarithmic axis. */
export function lossCurve(losses, { title = 'Loss', width = 640, height = 360 } = {}) {
  const [left, right, top, bottom] = [56, 20, 44, 44];
  const { ticks, position } = logScale(losses);
  const x = (epoch) => left + ((width - left - right) * (epoch - 1)) / Math.max(1, losses.length - 1);
  const y = (loss) => height - bottom - (height - top - bottom) * position(loss);
  const round = (value) => value.toFixed(1);
  const lines = ticks.map(
    (tick) => `
    <line x1="${left}" x2="${width - right}" y1="${round(y(tick))}" y2="${round(y(tick))}" stroke="#d8dce3"/>
    <text x="${left - 10}" y="${round(y(tick) + 4)}" text-anchor="end">${tick}</text>`,
  );
  const points = losses.map((loss, i) => `${round(x(i + 1))},${round(y(loss))}`).join(' ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"
  font-family="system-ui, sans-serif" font-size="13" fill="#4b5563">
  <rect width="${width}" height="${height}" fill="#ffffff"/>
  <text x="${left}" y="26" font-size="15" fill="#111827">${title}</text>
  <g>${lines.join('')}
  </g>
  <text x="${left}" y="${height - 16}">epoch 1</text>
  <text x="${width - right}" y="${height - 16}" text-anchor="end">epoch ${losses.length}</text>
  <polyline points="${points}" fill="none" stroke="#2563eb" stroke-width="2" stroke-linejoin="round"/>
</svg>
`;
}
