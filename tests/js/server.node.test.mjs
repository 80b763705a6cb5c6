// tf.Server with clients of this process: sessions of this package, and raw calls that no client of ours makes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import grpc from '@grpc/grpc-js';
import { CancelledError, UnavailableError } from '../../npm/dist/index.js';
import { master } from '../../build/js/service.js';
import { engine } from './engine.mjs';
import { pem } from './grpc-server.mjs';

const same = (bytes) => bytes;

/** A step that ends when it is stopped: it counts, as long as the count is positive. */
const endless = (g) =>
  g.whileLoop(
    (i) => g.greater(i, 0),
    (i) => [g.add(i, 1)],
    [g.constant(1, { dtype: 'int64' })],
    { name: 'endless' },
  )[0];

describe('tf.Server', function () {
  this.timeout(20_000);
  let tf;
  before(async () => {
    tf = await engine();
  });

  const ended = [];
  afterEach(async () => {
    for (const end of ended.splice(0).reverse()) await end();
  });

  const started = async (options) => {
    const server = await tf.Server.start(options);
    ended.push(() => server.close());
    return server;
  };
  const graph = () => {
    const g = new tf.Graph();
    ended.push(() => g.dispose());
    return g;
  };
  const opened = (g, { target }, options = {}) => {
    const session = new tf.Session(g, { target, ...options });
    ended.push(() => session.close());
    return session;
  };

  /** Waits until `got()` is `wanted`: a server learns of the end of a client later than the client. */
  async function becomes(got, wanted) {
    for (let i = 0; i < 100 && got() !== wanted; i++) await pause(20);
    assert.equal(got(), wanted);
  }

  /** `call(method, bytes)` of a client that sends any bytes; it rejects with gRPC's status. */
  function rawClient({ target }) {
    const client = new grpc.Client(target.slice('grpc://'.length), grpc.credentials.createInsecure());
    ended.push(() => client.close());
    const call = (method, bytes, begun = () => {}) =>
      new Promise((resolve, reject) => {
        const path = `/tensorflow.MasterService/${method}`;
        const made = client.makeUnaryRequest(path, same, same, Buffer.from(bytes), (error, response) =>
          error ? reject(error) : resolve(new Uint8Array(response)),
        );
        begun(made);
      });
    return { call };
  }

  /** A raw client with a session of a graph. */
  async function rawSession(server, g) {
    const raw = rawClient(server);
    const { request, response } = master.CreateSession;
    const created = await raw.call('CreateSession', request.encode({ graphDef: g.toGraphDef() }));
    return { ...raw, sessionHandle: response.decode(created).sessionHandle };
  }

  const statusOf = (call) =>
    call.then(
      () => assert.fail('the call did not fail'),
      ({ code, details }) => ({ code: grpc.status[code], details }),
    );

  const square = (g) => g.square(g.placeholder('float32', null, { name: 'x' }), { name: 'y' });

  it('listens on 127.0.0.1, on a free port, as the first task of localhost', async () => {
    const [server, other] = [await started(), await started()];
    assert.match(server.target, /^grpc:\/\/127\.0\.0\.1:[1-9]\d*$/);
    assert.notEqual(server.target, other.target);
    assert.equal(server.task, '/job:localhost/replica:0/task:0');
    const g = graph();
    const session = opened(g, server);
    assert.deepEqual((await session.run(square(g), { x: [3, -4] })).array(), [9, 16]);
    const names = (await session.listDevices()).map(({ name }) => name);
    assert.deepEqual(names, ['/job:localhost/replica:0/task:0/device:CPU:0']);
  });

  it('has the job, the task and the devices that it is told', async () => {
    const server = await started({ job: 'worker', task: 3, deviceCount: 2, host: 'localhost' });
    assert.match(server.target, /^grpc:\/\/localhost:\d+$/);
    assert.equal(server.task, '/job:worker/replica:0/task:3');
    const names = (await opened(graph(), server).listDevices()).map(({ name }) => name);
    assert.deepEqual(
      names.sort(),
      [0, 1].map((i) => `/job:worker/replica:0/task:3/device:CPU:${i}`),
    );
  });

  describe('variables', () => {
    const counter = (g, container, name) => {
      const attrs = { dtype: 'float32', shape: [], container, shared_name: name };
      const handle = g.op('VarHandleOp', [], { attrs }).output(0);
      return {
        set: (value) => g.op('AssignVariableOp', [handle, g.constant(value, { dtype: 'float32' })]),
        value: g.op('ReadVariableOp', [handle], { attrs: { dtype: 'float32' } }).output(0),
      };
    };

    it('are shared by the sessions of a server, and not by servers', async () => {
      const [server, stranger] = [await started(), await started()];
      const g = graph();
      const v = counter(g, '', 'v');
      const set = v.set(5);
      const [one, two] = [opened(g, server), opened(g, server)];
      await one.run(set);
      assert.equal((await two.run(v.value)).item(), 5);
      await one.close();
      assert.equal((await two.run(v.value)).item(), 5, 'they outlive their session');
      await assert.rejects(opened(g, stranger).run(v.value), { code: 'FAILED_PRECONDITION' });
    });

    it('are freed by a reset of their container, which closes all sessions', async () => {
      const server = await started();
      const g = graph();
      const [plain, boxed] = [counter(g, '', 'v'), counter(g, 'box', 'v')];
      const sets = [plain.set(1), boxed.set(2)];
      const session = opened(g, server);
      await session.run(sets);
      await tf.Session.reset(server.target, ['box']);
      await assert.rejects(session.run(plain.value), { code: 'ABORTED' });
      const next = opened(g, server);
      assert.equal((await next.run(plain.value)).item(), 1);
      await assert.rejects(next.run(boxed.value), { code: 'FAILED_PRECONDITION' });
      await tf.Session.reset(server.target);
      await assert.rejects(opened(g, server).run(plain.value), { code: 'FAILED_PRECONDITION' });
    });
  });

  it('does not show the nodes of a session to another one', async () => {
    const server = await started();
    const [g, h] = [graph(), graph()];
    const [mine, theirs] = [g, h].map((of, i) => of.constant(i + 1, { name: 'same' }));
    const sessions = [opened(g, server), opened(h, server)];
    const results = await Promise.all([sessions[0].run(mine), sessions[1].run(theirs)]);
    assert.deepEqual(
      results.map((result) => result.item()),
      [1, 2],
    );
  });

  describe('a step without end', () => {
    /** A session whose endless step runs, begun by a raw client. */
    async function running() {
      const server = await started();
      const g = graph();
      const name = `${endless(g).operation.name}:0`;
      const before = tf.memory();
      const raw = await rawSession(server, g);
      const { request } = master.RunStep;
      const bytes = request.encode({ sessionHandle: raw.sessionHandle, fetch: [name] });
      const step = ({ call }, begun) => call('RunStep', bytes, begun);
      return { ...raw, server, before, step };
    }
    const close = ({ server, sessionHandle }) =>
      rawClient(server).call('CloseSession', master.CloseSession.request.encode({ sessionHandle }));

    it('ends when its client cancels it, and the memory comes back', async () => {
      const client = await running();
      let liveBytes; // after the first step, which compiles
      for (let i = 0; i < 4; i++) {
        let made;
        const outcome = statusOf(client.step(client, (call) => (made = call)));
        await pause(50);
        made.cancel();
        assert.equal((await outcome).code, 'CANCELLED');
        if (liveBytes === undefined) await pause(100);
        liveBytes ??= tf.memory().liveBytes;
        await becomes(() => tf.memory().liveBytes, liveBytes);
      }
      await close(client);
      assert.equal(tf.memory().sessions, client.before.sessions);
      assert.equal(tf.memory().graphs, client.before.graphs);
    });

    it('ends when its client is gone', async () => {
      const client = await running();
      const sockets = [];
      const proxy = net.createServer((socket) => {
        const other = net.connect(Number(client.server.target.split(':').at(-1)), '127.0.0.1');
        for (const one of [socket, other]) sockets.push(one.on('error', () => {}));
        socket.pipe(other).pipe(socket);
      });
      await once(proxy.listen(0, '127.0.0.1'), 'listening');
      ended.push(() => proxy.close());
      const outcome = statusOf(
        client.step(rawClient({ target: `grpc://127.0.0.1:${proxy.address().port}` })),
      );
      await pause(100);
      for (const socket of sockets) socket.destroy();
      assert.equal((await outcome).code, 'UNAVAILABLE');
      /* CloseSession waits for steps that run. */
      await close(client);
      await becomes(() => tf.memory().sessions, client.before.sessions);
      await becomes(() => tf.memory().liveBytes, client.before.liveBytes);
    });

    it('does not stop other sessions', async () => {
      const server = await started();
      const g = graph();
      const forever = endless(g);
      const queue = g.op('FIFOQueueV2', [], { attrs: { component_types: ['float32'] } }).output(0);
      const blocked = g.op('QueueDequeueV2', [queue], { attrs: { component_types: ['float32'] } }).output(0);
      const y = square(g);
      const stop = new AbortController();
      const { signal } = stop;
      const steps = [forever, blocked].map((fetch) => opened(g, server).run(fetch, {}, { signal }));
      const outcomes = Promise.allSettled(steps);
      await pause(50);
      const session = opened(g, server);
      assert.equal((await session.run(y, { x: 3 })).item(), 9);
      stop.abort();
      for (const { reason } of await outcomes) assert.ok(reason instanceof CancelledError, String(reason));
    });

    it('ends when the server is closed', async () => {
      const before = tf.memory();
      const server = await tf.Server.start();
      const g = new tf.Graph();
      const session = new tf.Session(g, { target: server.target });
      const outcome = session.run(endless(g)).then(assert.fail, (error) => error);
      await pause(100);
      assert.equal(tf.memory().sessions, before.sessions + 1);
      await server.close();
      await server.closed;
      const error = await outcome;
      assert.ok(error instanceof UnavailableError || error instanceof CancelledError, String(error));
      await session.close();
      g.dispose();
      assert.deepEqual(
        [tf.memory().sessions, tf.memory().graphs, tf.memory().liveBytes],
        [before.sessions, before.graphs, before.liveBytes],
      );
      await server.close();
    });
  });

  describe('answers calls that are wrong', () => {
    it('of bytes that are no message, or half of one', async () => {
      const server = await started();
      const g = graph();
      square(g);
      const { call, sessionHandle } = await rawSession(server, g);
      const feed = [{ name: 'x:0', tensor: tf.tensor([3]) }];
      const whole = master.RunStep.request.encode({ sessionHandle, feed, fetch: ['y:0'] });
      for (const method of ['CreateSession', 'ExtendSession', 'RunStep', 'MakeCallable', 'Reset'])
        assert.equal(
          (await statusOf(call(method, new Uint8Array(20).fill(0xff)))).code,
          'INVALID_ARGUMENT',
          method,
        );
      const half = await statusOf(call('RunStep', whole.subarray(0, whole.length - 2)));
      assert.equal(half.code, 'INVALID_ARGUMENT');
      const noGraph = master.CreateSession.request.encode({ graphDef: Uint8Array.of(0x0a, 0x7f, 1) });
      assert.equal((await statusOf(call('CreateSession', noGraph))).code, 'INVALID_ARGUMENT');
      const { tensor } = master.RunStep.response.decode(await call('RunStep', whole));
      assert.deepEqual(tensor[0].tensor.array(), [9]);
    });

    it('of sessions and methods that it does not have', async () => {
      const { call } = rawClient(await started());
      const sessionHandle = '0123456789abcdef';
      for (const method of ['ExtendSession', 'RunStep', 'CloseSession', 'ListDevices']) {
        const { code, details } = await statusOf(
          call(method, master[method].request.encode({ sessionHandle })),
        );
        assert.equal(code, 'ABORTED', method);
        assert.match(details, /^Session 0123456789abcdef is not found\./);
      }
      assert.equal((await statusOf(call('NoSuchMethod', []))).code, 'UNIMPLEMENTED');
    });

    it('with tensors that are not as long as they say', async () => {
      const server = await started();
      const g = graph();
      square(g);
      const { call, sessionHandle } = await rawSession(server, g);
      /* A RunStepRequest ends with the feed { name: 'x:0', tensor: { dtype: float, shape: [size], content } }. */
      const part = (field, bytes) => [(field << 3) | 2, bytes.length, ...bytes];
      const lie = (size, content) => {
        const shape = part(2, part(2, [0x08, ...size]));
        const tensor = part(2, [0x08, 1, ...shape, ...part(4, content)]);
        const feed = part(2, [
          ...part(
            1,
            [...'x:0'].map((c) => c.charCodeAt(0)),
          ),
          ...tensor,
        ]);
        const begin = master.RunStep.request.encode({ sessionHandle, fetch: ['y:0'] });
        return call('RunStep', [...begin, ...feed]);
      };
      const whole = master.RunStep.response.decode(await lie([2], [0, 0, 0, 64, 0, 0, 64, 64]));
      assert.deepEqual(whole.tensor[0].tensor.array(), [4, 9]);
      const sizes = { longer: [100], shorter: [1], 'of 2 ** 56': [...Array(8).fill(0x80), 1] };
      for (const [what, size] of Object.entries(sizes))
        assert.equal((await statusOf(lie(size, Array(8).fill(0)))).code, 'INVALID_ARGUMENT', what);
      const negative = [...Array(9).fill(0xff), 1];
      assert.equal((await statusOf(lie(negative, []))).code, 'INVALID_ARGUMENT', 'of -1');
    });

    it('with messages that fit into the headers of gRPC', async () => {
      const { call, sessionHandle } = await rawSession(await started(), graph());
      /* With the letter before them, pairs of surrogates are cut at another place. */
      const names = ['a', ' ', '%', 'é', '€', '😀'].map((letter) => letter.repeat(20_000));
      for (const name of [...names, `a${names.at(-1)}`]) {
        const request = master.RunStep.request.encode({ sessionHandle, fetch: [name] });
        const { code, details } = await statusOf(call('RunStep', request));
        assert.equal(code, 'NOT_FOUND', details.slice(0, 80));
        assert.match(details, / \.\.\. \[truncated\]$/);
        assert.ok(details.includes(name.slice(0, 500)), details.slice(0, 80));
        assert.ok(encodeURI(details).length < 8192, details.slice(0, 80));
      }
    });
  });

  it('serves eight sessions at once', async () => {
    const server = await started();
    const sums = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const g = graph();
        const y = g.add(square(g), i);
        const session = opened(g, server);
        let sum = 0;
        for (let x = 0; x < 20; x++) sum += (await session.run(y, { x })).item();
        return sum;
      }),
    );
    /* The squares below 20 have the sum 2470. */
    assert.deepEqual(
      sums,
      Array.from({ length: 8 }, (_, i) => 2470 + 20 * i),
    );
  });

  it('needs no more memory after 10,000 steps', async function () {
    this.timeout(120_000);
    const server = await started();
    const g = graph();
    const y = square(g);
    const session = opened(g, server);
    const steps = async (count) => {
      for (let i = 0; i < count; i += 10)
        await Promise.all(Array.from({ length: 10 }, () => session.run(y, { x: [1, 2, 3] })));
      return tf.memory().liveBytes;
    };
    assert.equal(await steps(10), await steps(10_000));
  });

  describe('with TLS', () => {
    const pair = { certificate: pem('server'), privateKey: pem('server-key') };
    const rootCertificates = pem('root');
    /** A step with these credentials. */
    const step = async (server, credentials) => {
      const g = graph();
      const session = opened(g, server, { credentials, operationTimeoutMs: 5000 });
      return (await session.run(square(g), { x: 3 })).item();
    };

    it('serves those who trust its certificate', async () => {
      const server = await started({ host: 'localhost', credentials: pair });
      assert.equal(await step(server, { rootCertificates }), 9);
      await assert.rejects(step(server, {}), { code: 'UNAVAILABLE', message: /certificate/ });
      await assert.rejects(step(server), UnavailableError);
    });

    it('with rootCertificates refuses clients without a certificate', async () => {
      const server = await started({ host: 'localhost', credentials: { ...pair, rootCertificates } });
      const own = { certificate: pem('client'), privateKey: pem('client-key') };
      assert.equal(await step(server, { rootCertificates, ...own }), 9);
      await assert.rejects(step(server, { rootCertificates }), UnavailableError);
    });
  });

  it('says that its port is in use, and that it cannot have the address', async () => {
    const { target } = await started();
    const before = tf.memory();
    const port = Number(target.split(':').at(-1));
    await assert.rejects(tf.Server.start({ port }), {
      code: 'UNAVAILABLE',
      message: new RegExp(`^the server cannot listen on 127\\.0\\.0\\.1:${port}: `),
    });
    await assert.rejects(tf.Server.start({ host: 'nowhere.invalid' }), UnavailableError);
    assert.equal(tf.memory().liveBytes, before.liveBytes);
  });

  it('refuses options that make no sense', async () => {
    const before = tf.memory();
    const refusals = [
      [{ port: 65536 }, /^port must be from 0 to 65535, not 65536$/],
      [{ port: -1 }, /^port must be/],
      [{ port: 1.5 }, /^port must be/],
      [{ port: '2222' }, /option 'port' of Server\.start must be a number/],
      [{ host: 5 }, /option 'host' of Server\.start must be a string/],
      [{ task: -1 }, /^task must be a whole number from 0 on, not -1$/],
      [{ task: 2 ** 31 }, /^task must be/],
      [{ job: '' }, /^job must be letters, digits and _, not /],
      [{ job: 'a/b' }, /^job must be/],
      [{ deviceCount: -1 }, /./],
      [{ deviceCount: 0.5 }, /./],
      [{ deviceCount: 2 ** 40 }, /./],
      [{ devices: 1 }, /Server\.start has no option 'devices'/],
      [{ credentials: {} }, /the credentials of a server need a certificate and its privateKey/],
      [{ credentials: { certificate: 'x' } }, /both certificate and privateKey/],
      [{ credentials: { certificate: 'x', privateKey: 'y' } }, /^the credentials are not valid: /],
    ];
    for (const [options, message] of refusals)
      await assert.rejects(
        tf.Server.start(options).then((server) => server.close()),
        { name: 'InvalidArgumentError', message },
        JSON.stringify(options),
      );
    assert.equal(tf.memory().liveBytes, before.liveBytes);
  });
});
