import assert from 'node:assert/strict';
import { init, InvalidArgumentError } from '../../npm/dist/index.js';
import { hostVariants, withGraph } from './engine.mjs';

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** An image of 2 x 3 pixels with four channels, which count in tens. */
const PNG = bytesOf(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAHElEQVR4nGNg4BKR0zCycQuISsljrGjqmaYBBQBIawXyu4KkJAAAAABJRU5ErkJggg==',
);
/** A progressive JPEG of 4 x 4 pixels, and what TensorFlow decodes from it. */
const JPEG = bytesOf(
  '/9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wgARCAAEAAQDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAf/xAAVAQEBAAAAAAAAAAAAAAAAAAAFBv/aAAwDAQACEAMQAAABugnyv//EABYQAQEBAAAAAAAAAAAAAAAAAAIBEv/aAAgBAQABBQIGZ//EABgRAAIDAAAAAAAAAAAAAAAAAAACAREh/9oACAEDAQE/AVZqjT//xAAYEQACAwAAAAAAAAAAAAAAAAAAAgESIf/aAAgBAgEBPwF0W04f/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAGBAAAgMAAAAAAAAAAAAAAAAAAAERMVH/2gAIAQEAAT8hqElOH//aAAwDAQACAAMAAAAQB//EABYRAAMAAAAAAAAAAAAAAAAAAAAxkf/aAAgBAwEBPxB6U//EABcRAQADAAAAAAAAAAAAAAAAAAEAMVH/2gAIAQIBAT8QayLyf//EABcQAQEBAQAAAAAAAAAAAAAAAAERADH/2gAIAQEAAT8QkPVICWG//9k=',
);
const JPEG_PIXELS = [
  181, 212, 155, 182, 213, 156, 187, 210, 132, 205, 228, 150, 197, 228, 171, 198, 229, 172, 200, 223, 145,
  211, 234, 156, 175, 235, 201, 178, 238, 204, 180, 233, 177, 186, 239, 183, 168, 228, 194, 177, 237, 203,
  183, 236, 180, 189, 242, 186,
];

/* Damage makes the libraries leave their functions by longjmp, which each build has to be able to do. */
for (const variant of hostVariants()) {
  describe(`files of images in the build ${variant}`, () => {
    let tf;
    before(async () => (tf = await init({ variant })));
    const file = (bytes) => tf.tensor(bytes, undefined, 'string');

    it('PNG and JPEG files are decoded', () =>
      withGraph(tf, async (g, session) => {
        const contents = g.placeholder('string', []);
        const image = g.decodeImage(contents, { expandAnimations: false });
        const png = await session.run(image, { [contents.name]: file(PNG) });
        assert.deepEqual([png.dtype, png.shape], ['uint8', [2, 3, 4]]);
        assert.deepEqual(
          [...png.data],
          Array.from({ length: 24 }, (_, i) => 10 * i),
        );
        const jpeg = await session.run(g.decodeJpeg(contents), { [contents.name]: file(JPEG) });
        assert.deepEqual(jpeg.shape, [4, 4, 3]);
        assert.ok(JPEG_PIXELS.every((value, i) => Math.abs(value - jpeg.data[i]) <= 1));
      }));

    it('damaged files are errors, and leave nothing behind', () =>
      withGraph(tf, async (g, session) => {
        const contents = g.placeholder('string', []);
        const image = g.decodeImage(contents, { expandAnimations: false });
        for (const whole of [PNG, JPEG]) {
          for (let length = 0; length < whole.length - 13; length += 7) {
            await assert.rejects(
              async () => session.run(image, { [contents.name]: file(whole.slice(0, length)) }),
              InvalidArgumentError,
            );
          }
          await session.run(image, { [contents.name]: file(whole) });
        }
      }));

    it('what is encoded is decoded', () =>
      withGraph(tf, async (g, session) => {
        const image = tf.tensor(
          Uint8Array.from({ length: 192 }, (_, i) => (i * 37) % 256),
          [8, 8, 3],
        );
        const png = g.decodePng(g.encodePng(g.constant(image)));
        assert.deepEqual((await session.run(png)).data, image.data);
        const flat = g.constant(tf.tensor(new Uint8Array(192).fill(77), [8, 8, 3]));
        const jpeg = await session.run(g.decodeJpeg(g.encodeJpeg(flat)));
        assert.ok(jpeg.data.every((value) => Math.abs(value - 77) <= 1));
      }));
  });
}
