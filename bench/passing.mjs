// What goes in and out: tensors of some megabytes, and a number. The work in between is small.
import { numbers } from './digits.mjs';

const SIZE = 1 << 20;
const arrays = () => [numbers(SIZE, 21), numbers(SIZE, 22)];

/** The sum of two vectors of 4 MB each. `ourRun(tf, session, sum, feeds)` and `peerRun(tfjs)` return runs of one. */
function largeSum(name, ourRun, peerRun) {
  return {
    name,
    group: 'overhead',
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const feeds = [0, 1].map(() => graph.placeholder('float32', [SIZE]));
      const sum = graph.addV2(...feeds);
      const [a, b] = arrays();
      const { run, free } = ourRun(tf, session, sum, feeds);
      return {
        run,
        result: () =>
          session.runSync(sum, [
            [feeds[0], a],
            [feeds[1], b],
          ]).data,
        async close() {
          free?.();
          await session.close();
          graph.dispose();
        },
      };
    },
    async peer(tfjs) {
      const { run, free } = peerRun(tfjs);
      return {
        run,
        result: () => tfjs.tidy(() => tfjs.add(...arrays().map((data) => tfjs.tensor1d(data))).dataSync()),
        close: () => free?.(),
      };
    },
  };
}

function ourCopies(tf, session, sum, feeds) {
  const given = arrays();
  const callable = session.makeCallable(sum, feeds);
  return { run: () => callable.runSync(...given).data, free: () => callable.release() };
}

function peerCopies(tfjs) {
  const given = arrays();
  return { run: () => tfjs.tidy(() => tfjs.add(...given.map((data) => tfjs.tensor1d(data))).dataSync()) };
}

/** With `keep`, or the kernel alone. */
const ourResidents = (keep) => (tf, session, sum, feeds) => {
  const given = arrays().map((data) => tf.tensor(data, { resident: true }));
  const callable = session.makeCallable(keep ? sum : sum.operation, feeds, { keep });
  return {
    run: keep ? () => callable.runSync(...given).dispose() : () => callable.runSync(...given),
    free: () => {
      for (const one of given) one.dispose();
      callable.release();
    },
  };
};

function peerResidents(tfjs) {
  const given = arrays().map((data) => tfjs.tensor1d(data));
  return { run: () => tfjs.add(...given).dispose(), free: () => tfjs.dispose(given) };
}

/** From a number to a number, by a callable. */
const preparedAddition = {
  name: 'one scalar addition, prepared',
  group: 'overhead',
  async ours(tf) {
    const graph = new tf.Graph();
    const session = new tf.Session(graph);
    const x = graph.placeholder('float32', []);
    const callable = session.makeCallable(graph.addV2(x, graph.constant(1)), [x]);
    let next = 0;
    return {
      run: () => callable.runSync(next++ % 7).data,
      result: () => Float32Array.of(callable.runSync(0.5).data[0]),
      async close() {
        callable.release();
        await session.close();
        graph.dispose();
      },
    };
  },
  async peer(tfjs) {
    const one = tfjs.scalar(1);
    const run = (value) => tfjs.tidy(() => tfjs.add(tfjs.scalar(value), one).dataSync());
    let next = 0;
    return {
      run: () => run(next++ % 7),
      result: () => Float32Array.of(run(0.5)[0]),
      close: () => one.dispose(),
    };
  },
};

export const passingCases = [
  preparedAddition,
  largeSum('8 MB in, 4 MB out, copied', ourCopies, peerCopies),
  largeSum('8 MB in, 4 MB out, resident', ourResidents(true), peerResidents),
  largeSum('8 MB in, the kernel alone', ourResidents(false), peerResidents),
];
