// Pages whose sessions run on a server in Node, through WebSockets. In the form of demo-tests.mjs.
import assert from 'node:assert/strict';
import { init } from '../../../npm/dist/index.js';

/** Calls `use` with a server in this process, and a page of the package. */
async function withServer(options, context, address, use) {
  const tf = await init({ threads: 1 });
  const server = await tf.Server.start({ websocketPort: 0, ...options });
  try {
    const page = await context.newPage();
    await page.goto(`${address}/tests/js/page/empty.html`);
    await use(server, page, tf);
  } finally {
    await server.close();
  }
}

/**
 * In the page: the losses of a network of two layers that learns XOR on a target, and what it answers then. Builds round
 * differently, and training amplifies that, so that the build is named.
 */
async function train([target, variant]) {
  const { init } = await import('/npm/dist/index.js');
  const tf = await init({ variant });
  const g = new tf.Graph();
  const x = g.constant(
    [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ],
    { dtype: 'float32' },
  );
  const wanted = g.constant([[0], [1], [1], [0]], { dtype: 'float32' });
  const [w, b] = [
    g.variable([
      [1, -0.5, 0.7],
      [-0.8, 1.1, 0.4],
    ]),
    g.variable([0.1, -0.1, 0.2]),
  ];
  const [v, c] = [g.variable([[0.9], [1.2], [-0.7]]), g.variable([0])];
  const hidden = g.tanh(g.biasAdd(g.matMul(x, w), b));
  const answer = g.biasAdd(g.matMul(hidden, v), c);
  const loss = g.mean(g.square(g.sub(answer, wanted)), [0, 1]);
  const step = new tf.train.GradientDescentOptimizer(0.3).minimize(loss);
  const session = new tf.Session(g, { target });
  await session.run(g.initializer());
  const losses = [];
  for (let i = 0; i < 400; i++) losses.push((await session.run([loss, step]))[0].item());
  const answers = (await session.run(answer)).array().flat();
  await session.close();
  return { losses, answers };
}

/** In the page: what a step of a session on a target fails with. */
async function failure(target) {
  const { init } = await import('/npm/dist/index.js');
  const tf = await init({ threads: 1 });
  const g = new tf.Graph();
  try {
    return String(await new tf.Session(g, { target, operationTimeoutMs: 5000 }).run(g.constant(1)));
  } catch (error) {
    return `${error.code}: ${error.message}`;
  }
}

async function until(holds, what) {
  for (let i = 0; i < 200 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 25));
  assert.ok(holds(), what);
}

export const serverTests = [
  [
    'a page trains a network on a server in Node, along the losses of its own engine',
    (context, address) =>
      withServer({}, context, address, async (server, page, tf) => {
        const before = tf.memory().sessions;
        const there = await page.evaluate(train, [server.websocketTarget, tf.variant]);
        assert.ok(there.losses.at(-1) < there.losses[0] / 100, `${there.losses.at(-1)}`);
        for (const [i, wanted] of [0, 1, 1, 0].entries())
          assert.ok(Math.abs(there.answers[i] - wanted) < 0.2, `${there.answers}`);
        const here = await page.evaluate(train, ['', tf.variant]);
        assert.deepEqual(there, here);
        assert.equal(tf.memory().sessions, before);
      }),
  ],
  [
    'the sessions of a page end with the page',
    (context, address) =>
      withServer({}, context, address, async (server, page, tf) => {
        const before = tf.memory();
        await page.evaluate(async (target) => {
          const { init } = await import('/npm/dist/index.js');
          const tf = await init({ threads: 1 });
          const g = new tf.Graph();
          const [forever] = g.whileLoop(
            (i) => g.greater(i, 0),
            (i) => [g.add(i, 1)],
            [g.constant(1, { dtype: 'int64' })],
          );
          const session = new tf.Session(g, { target });
          await session.run(g.constant(1));
          window.running = session.run(forever).catch(() => {});
        }, server.websocketTarget);
        assert.equal(tf.memory().sessions, before.sessions + 1);
        await page.close();
        await until(() => tf.memory().sessions === before.sessions, 'the session of the page');
        await until(() => tf.memory().liveBytes === before.liveBytes, 'its memory');
      }),
  ],
  [
    'large tensors cross the socket of a page, in both directions',
    (context, address) =>
      withServer({}, context, address, async (server, page) => {
        const sum = await page.evaluate(async (target) => {
          const { init } = await import('/npm/dist/index.js');
          const tf = await init({ threads: 1 });
          const g = new tf.Graph();
          const x = g.placeholder('float32', [null]);
          const session = new tf.Session(g, { target });
          const value = new Float32Array(5_000_000).map((_, i) => i % 1000);
          const { data } = await session.run(g.add(x, 1), new Map([[x, value]]));
          await session.close();
          return data.every((one, i) => one === (i % 1000) + 1) && data.length;
        }, server.websocketTarget);
        assert.equal(sum, 5_000_000);
      }),
  ],
  [
    'a page learns that a server does not serve its origin, that there is none, and what it cannot speak',
    (context, address) =>
      withServer({ origins: ['http://example.org'] }, context, address, async (server, page) => {
        assert.equal(
          await page.evaluate(failure, server.websocketTarget),
          `PERMISSION_DENIED: the server does not serve pages of ${address}: its option 'origins' can allow it`,
        );
        const nowhere = await page.evaluate(failure, 'ws://127.0.0.1:1');
        assert.match(nowhere, /^UNAVAILABLE: there is no connection to .*no server of this package answered/);
        const grpc = await page.evaluate(failure, 'grpc://127.0.0.1:2222');
        assert.match(grpc, /^UNIMPLEMENTED: .*a page cannot speak gRPC.* use target 'ws:\/\/host:8080'/);
      }),
  ],
];
