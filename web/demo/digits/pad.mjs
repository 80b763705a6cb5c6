// The drawing pad: collects strokes from mouse, finger, pen and keyboard, and draws them.

const STEP = 1 / 24;
const ARROWS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };

/**
 * Strokes are arrays of points [x, y], from 0 to 1 over the pad. `changed(strokes)` is called after each
 * change.
 */
export class Pad {
  #strokes = [];
  #pen = null; // the stroke that is being drawn
  #cursor = null; // the position of the keyboard's pen

  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    canvas.addEventListener('pointerdown', (event) => this.#pointerDown(event));
    canvas.addEventListener('pointermove', (event) => this.#pointerMove(event));
    for (const type of ['pointerup', 'pointercancel'])
      canvas.addEventListener(type, () => (this.#pen = null));
    canvas.addEventListener('keydown', (event) => this.#keyDown(event));
    canvas.addEventListener('blur', () => {
      this.#cursor = null;
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  clear() {
    this.#strokes = [];
    this.#pen = null;
    this.draw();
    this.changed(this.#strokes);
  }

  #add(point, isNew) {
    if (isNew) this.#strokes.push((this.#pen = []));
    this.#pen.push(point);
    this.draw();
    this.changed(this.#strokes);
  }

  #pointOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }

  #pointerDown(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#cursor = null;
    this.#add(this.#pointOf(event), true);
  }

  #pointerMove(event) {
    if (!this.#pen || event.buttons === 0) return;
    const moves = event.getCoalescedEvents?.() ?? [];
    for (const move of moves.length > 0 ? moves : [event]) this.#pen.push(this.#pointOf(move));
    this.draw();
    this.changed(this.#strokes);
  }

  #keyDown(event) {
    const arrow = ARROWS[event.key];
    if (event.key === 'Delete' || event.key === 'Backspace') this.clear();
    else if (event.key === ' ') {
      this.#cursor ??= [0.5, 0.5];
      if (this.#pen) this.#pen = null;
      else this.#add([...this.#cursor], true);
      this.draw();
    } else if (arrow) {
      const from = this.#cursor ?? [0.5, 0.5];
      this.#cursor = from.map((value, i) => Math.min(0.95, Math.max(0.05, value + arrow[i])));
      if (this.#pen) this.#add([...this.#cursor], false);
      else this.draw();
    } else return;
    event.preventDefault();
  }

  draw() {
    const { canvas } = this;
    const size = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio));
    if (canvas.width !== size) canvas.width = canvas.height = size;
    const pen = canvas.getContext('2d');
    const style = getComputedStyle(canvas);
    pen.clearRect(0, 0, size, size);
    pen.lineCap = pen.lineJoin = 'round';
    pen.lineWidth = size / 14;
    pen.strokeStyle = style.getPropertyValue('--ink');
    for (const stroke of this.#strokes) {
      pen.beginPath();
      for (const [x, y] of [stroke[0], ...stroke]) pen.lineTo(x * size, y * size);
      pen.stroke();
    }
    if (!this.#cursor) return;
    pen.fillStyle = style.getPropertyValue('--line');
    pen.globalAlpha = this.#pen ? 1 : 0.5;
    pen.beginPath();
    pen.arc(this.#cursor[0] * size, this.#cursor[1] * size, size / 30, 0, 2 * Math.PI);
    pen.fill();
    pen.globalAlpha = 1;
  }
}

/** Draws 8x8 pixels, 0..1, in the colour of ink. */
export function drawPixels(canvas, pixels) {
  const context = canvas.getContext('2d');
  const [red, green, blue] = getComputedStyle(canvas)
    .getPropertyValue('--ink')
    .match(/[\d.]+/g)
    .map(Number);
  const image = context.createImageData(canvas.width, canvas.height);
  pixels.forEach((value, i) => image.data.set([red, green, blue, 255 * value], 4 * i));
  context.putImageData(image, 0, 0);
}
