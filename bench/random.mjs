// Random numbers: a million of each kind. The engines' numbers differ, so their moments are compared, to two
// digits.

const COUNT = 1_000_000;

/** Mean and deviation, rounded to the precision that a million samples give. */
function moments(data) {
  let [sum, squares] = [0, 0];
  for (const value of data) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / data.length;
  return Float32Array.of(
    Math.round(mean * 50) / 50,
    Math.round(Math.sqrt(squares / data.length - mean * mean) * 50) / 50,
  );
}

function drawing(name, ours, peer) {
  return {
    name: `${name}, 1,000,000`,
    group: 'random',
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const numbers = ours(graph);
      const { operation } = numbers;
      return {
        run: () => session.runSync(operation),
        result: () => moments(session.runSync(numbers).data),
        async close() {
          await session.close();
          graph.dispose();
        },
      };
    },
    async peer(tfjs) {
      return {
        run: () => peer(tfjs).dispose(),
        result() {
          const numbers = peer(tfjs);
          const found = moments(numbers.dataSync());
          numbers.dispose();
          return found;
        },
        close() {},
      };
    },
  };
}

export const randomCases = [
  drawing(
    'randomUniform',
    (g) => g.randomUniform([COUNT], { seed: 1 }),
    (tfjs) => tfjs.randomUniform([COUNT], 0, 1, 'float32', 1),
  ),
  drawing(
    'randomNormal',
    (g) => g.randomStandardNormal([COUNT], { seed: 1 }),
    (tfjs) => tfjs.randomNormal([COUNT], 0, 1, 'float32', 1),
  ),
  drawing(
    'truncatedNormal',
    (g) => g.truncatedNormal([COUNT], { seed: 1 }),
    (tfjs) => tfjs.truncatedNormal([COUNT], 0, 1, 'float32', 1),
  ),
];
