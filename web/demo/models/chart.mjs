// TensorFlow's numbers and ours in one chart: TensorFlow's as a wide, pale line, and ours as a thin line on
// top, so that both are visible where they agree.
const SVG = 'http://www.w3.org/2000/svg';
const MARGIN = { left: 48, right: 14, top: 12, bottom: 30 };

const make = (name, attributes, text = '') => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
};

/** 4 to 7 round numbers that span the values. */
export function ticksFor(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least || Math.abs(most) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= 5);
  const first = Math.floor(least / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(most / step - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

export class Chart {
  #want = [];
  #got = [];
  #style = { along: '', first: 1, line: true };

  constructor(svg) {
    this.svg = svg;
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  /**
   * Clears the chart and draws TensorFlow's numbers. `along` is the name of the axis, and `first` is its
   * first number. Without `line`, the numbers are dots.
   */
  start(want, style) {
    this.#want = want;
    this.#got = [];
    this.#style = style;
    this.draw();
  }

  add(...values) {
    this.#got.push(...values);
    this.draw();
  }

  /** The largest difference so far, as a share of the largest of TensorFlow's numbers. */
  get off() {
    const largest = Math.max(...this.#want.map(Math.abs));
    return Math.max(...this.#got.map((value, i) => Math.abs(value - this.#want[i]))) / largest;
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.svg;
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    if (this.#want.length === 0 || width === 0) return;
    const { left, right, top, bottom } = MARGIN;
    const { along, first, line } = this.#style;
    const ticks = ticksFor([...this.#want, ...this.#got.filter(Number.isFinite)]);
    const inset = line ? 0 : 14;
    const x = (i) =>
      left + inset + ((width - left - right - 2 * inset) * i) / Math.max(1, this.#want.length - 1);
    const y = (value) =>
      height - bottom - ((height - top - bottom) * (value - ticks[0])) / (ticks.at(-1) - ticks[0]);
    const parts = ticks.flatMap((tick) => [
      make('line', {
        class: 'grid',
        x1: left,
        x2: width - right,
        y1: Math.round(y(tick)) + 0.5,
        y2: Math.round(y(tick)) + 0.5,
      }),
      make('text', { x: left - 10, y: y(tick) + 4, 'text-anchor': 'end' }, String(tick)),
    ]);
    const labels = this.#want.length > 10 ? [0, 4, 9, 14, 19] : this.#want.keys();
    for (const i of labels)
      parts.push(
        make('text', { x: x(i), y: height - bottom + 20, 'text-anchor': 'middle' }, String(i + first)),
      );
    parts.push(
      ...this.#marks('theirs', this.#want, x, y, line, 6),
      ...this.#marks('ours', this.#got, x, y, line, 2.5),
    );
    this.svg.append(...parts);
    this.svg.setAttribute('aria-label', `${along}: TensorFlow's and this page's`);
  }

  #marks(kind, values, x, y, line, radius) {
    if (!line)
      return values.map((value, i) => make('circle', { class: kind, cx: x(i), cy: y(value), r: radius }));
    const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    const end =
      values.length > 0 && kind === 'ours'
        ? [make('circle', { class: kind, cx: x(values.length - 1), cy: y(values.at(-1)), r: 4 })]
        : [];
    return [make('polyline', { class: kind, points }), ...end];
  }
}
