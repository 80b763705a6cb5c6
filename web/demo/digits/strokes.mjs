// Converts pen strokes to the network's 8x8 pixels in the same way as the data set: the drawing is scaled to
// fill a bitmap of 32x32, and each pixel counts the bits that are set in a block of 4x4.
import { INK, PIXELS, SIDE } from '../../../examples/digits/data.mjs';

const BITMAP = 32;
const BLOCK = BITMAP / SIDE;
/**
 * Half the width of a line in the bitmap. With this width, about three bits of ten are ink, as in the digits
 * of the data set.
 */
const RADIUS = 2.3;

/**
 * Moves and scales strokes (arrays of [x, y]) so that they fill the bitmap in height or width, in its middle.
 */
function fitted(strokes) {
  const points = strokes.flat();
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = (BITMAP - 2 * RADIUS) / Math.max(right - left, bottom - top, Number.EPSILON);
  const place = ([x, y]) => [
    BITMAP / 2 + (x - (left + right) / 2) * scale,
    BITMAP / 2 + (y - (top + bottom) / 2) * scale,
  ];
  return strokes.map((stroke) => stroke.map(place));
}

function distanceToSegment(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

/** The pixels (0..1) in row-major order; all 0 without strokes. A dot has no size, so it is not scaled. */
export function pixelsOf(strokes) {
  const pixels = new Float32Array(PIXELS);
  const drawn = strokes.filter((stroke) => stroke.length > 0);
  if (drawn.length === 0) return pixels;
  const segments = fitted(drawn).flatMap((stroke) =>
    stroke.length === 1 ? [[stroke[0], stroke[0]]] : stroke.slice(1).map((point, i) => [stroke[i], point]),
  );
  for (let y = 0; y < BITMAP; y++) {
    for (let x = 0; x < BITMAP; x++) {
      const set = segments.some(([a, b]) => distanceToSegment(x + 0.5, y + 0.5, a, b) <= RADIUS);
      if (set) pixels[Math.floor(y / BLOCK) * SIDE + Math.floor(x / BLOCK)] += 1 / INK;
    }
  }
  return pixels;
}
