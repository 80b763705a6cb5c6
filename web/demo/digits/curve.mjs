// The loss curve on a canvas, redrawn after every epoch.
import { logScale } from '../../../examples/digits/curve.mjs';

export class Curve {
  #losses = [];
  #epochs = 1;

  constructor(canvas) {
    this.canvas = canvas;
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** Clears the curve and makes room for this number of epochs. */
  start(epochs) {
    this.#losses = [];
    this.#epochs = epochs;
    this.draw();
  }

  add(loss) {
    this.#losses.push(loss);
    this.draw();
  }

  draw() {
    const { canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(height * devicePixelRatio);
    const pen = canvas.getContext('2d');
    pen.scale(devicePixelRatio, devicePixelRatio);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name);
    const { ticks, position } = logScale(this.#losses);
    const [left, right, top, bottom] = [44, 10, 10, 10];
    const x = (i) => left + ((width - left - right) * i) / Math.max(1, this.#epochs - 1);
    const y = (loss) => height - bottom - (height - top - bottom) * position(loss);

    pen.font = `12px ${style.fontFamily}`;
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    for (const tick of ticks) {
      pen.fillStyle = colour('--faint');
      pen.fillText(String(tick), left - 10, y(tick));
      pen.fillStyle = colour('--grid');
      pen.fillRect(left, Math.round(y(tick)), width - left - right, 1);
    }
    if (this.#losses.length === 0) return;
    pen.strokeStyle = pen.fillStyle = colour('--line');
    pen.lineWidth = 2;
    pen.lineJoin = 'round';
    pen.beginPath();
    this.#losses.forEach((loss, i) => pen.lineTo(x(i), y(loss)));
    pen.stroke();
    pen.beginPath();
    pen.arc(x(this.#losses.length - 1), y(this.#losses.at(-1)), 4, 0, 2 * Math.PI);
    pen.fill();
  }
}
