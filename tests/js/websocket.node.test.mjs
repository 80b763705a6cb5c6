// Sessions over WebSockets with servers of this process, and clients and servers that break the rules.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WebSocket, WebSocketServer } from 'ws';
import { CancelledError, PermissionDeniedError, UnavailableError } from '../../npm/dist/index.js';
import { master } from '../../build/js/service.js';
import { engine } from './engine.mjs';
import { pem } from './grpc-server.mjs';
import { freePorts } from './tensorflow-servers.mjs';

const PROTOCOL = 'tfcore-wasm.1';
const DIST = fileURLToPath(new URL('../../npm/dist', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** A step that ends when it is stopped: it counts, as long as the count is positive. */
const endless = (g) =>
  g.whileLoop(
    (i) => g.greater(i, 0),
    (i) => [g.add(i, 1)],
    [g.constant(1, { dtype: 'int64' })],
    { name: 'endless' },
  )[0];

describe('WebSockets', function () {
  this.timeout(30_000);
  let tf;
  before(async () => {
    tf = await engine();
  });

  const ended = [];
  afterEach(async () => {
    for (const end of ended.splice(0).reverse()) await end();
  });

  const started = async (options) => {
    const server = await tf.Server.start({ websocketPort: 0, ...options });
    ended.push(() => server.close());
    return server;
  };
  const graph = () => {
    const g = new tf.Graph();
    ended.push(() => g.dispose());
    return g;
  };
  const opened = (g, { websocketTarget }, options = {}) => {
    const session = new tf.Session(g, { target: websocketTarget, ...options });
    ended.push(() => session.close());
    return session;
  };
  const square = (g) => g.square(g.placeholder('float32', null, { name: 'x' }), { name: 'y' });

  /** The error of a step on a target. */
  async function failureOf(target, options = {}) {
    const g = graph();
    const session = opened(g, { websocketTarget: target }, { operationTimeoutMs: 5000, ...options });
    return session.run(square(g), { x: 3 }).then(
      () => assert.fail('the step did not fail'),
      (error) => error,
    );
  }

  /** Waits until `got()` is `wanted`: a server learns of the end of a client later than the client. */
  async function becomes(got, wanted) {
    for (let i = 0; i < 150 && got() !== wanted; i++) await pause(20);
    assert.equal(got(), wanted);
  }

  /** A client that sends any messages: `next` is the next answer, a head with its contents, `closed` the end. */
  async function rawClient({ websocketTarget }, options = {}) {
    const socket = new WebSocket(websocketTarget, [PROTOCOL], options);
    socket.on('error', () => {});
    ended.push(() => socket.terminate());
    const [answers, waiting] = [[], []];
    const give = (answer) => (waiting.length > 0 ? waiting.shift()(answer) : answers.push(answer));
    let head;
    let contents = [];
    const complete = () => {
      if (head.sizes && contents.reduce((sum, { length }) => sum + length, 0) < sum(head.sizes)) return;
      give({ ...head, contents: Buffer.concat(contents) });
      contents = [];
    };
    const sum = (sizes) => sizes.reduce((total, size) => total + size, 0);
    socket.on('message', (data, isBinary) => {
      if (isBinary) contents.push(data);
      else head = JSON.parse(data);
      complete();
    });
    const closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
    const next = () =>
      new Promise((resolve) => (answers.length > 0 ? resolve(answers.shift()) : waiting.push(resolve)));
    let lastId = 0;
    const call = (method, values) => {
      const bytes = master[method].request.encode(values);
      socket.send(JSON.stringify({ id: ++lastId, method, sizes: [bytes.length] }));
      if (bytes.length > 0) socket.send(bytes);
    };
    await Promise.race([once(socket, 'open'), closed]);
    return { socket, call, next, closed };
  }

  /** A raw client with a session of a graph. */
  async function rawSession(server, g, options) {
    const raw = await rawClient(server, options);
    raw.call('CreateSession', { graphDef: g.toGraphDef() });
    const { contents } = await raw.next();
    return { ...raw, sessionHandle: master.CreateSession.response.decode(contents).sessionHandle };
  }

  describe('a server', () => {
    it('with websocketPort alone speaks WebSocket alone, and with port gRPC, too', async () => {
      const [alone, both] = [await started(), await started({ port: 0 })];
      assert.match(alone.websocketTarget, /^ws:\/\/127\.0\.0\.1:[1-9]\d*$/);
      assert.equal(alone.target, alone.websocketTarget);
      assert.match(both.target, /^grpc:/);
      const g = graph();
      const v = g.variable([3, 4], { name: 'v' });
      const square = g.square(v);
      const [page, program] = [opened(g, both), new tf.Session(g, { target: both.target })];
      await page.run(g.initializer());
      assert.deepEqual((await program.run(square)).array(), [9, 16], 'they share the variables');
      await program.close();
    });

    it('tells a browser that looks at its address what it is', async () => {
      const { websocketTarget } = await started();
      const response = await fetch(websocketTarget.replace('ws:', 'http:'));
      assert.equal(response.status, 426);
      assert.match(await response.text(), /tfcore-wasm/);
    });

    it('refuses options that make no sense, and ports that are in use', async () => {
      const { websocketTarget } = await started();
      const before = tf.memory();
      const refusals = [
        [{ websocketPort: 65536 }, 'INVALID_ARGUMENT', /^websocketPort must be from 0 to 65535, not 65536$/],
        [{ websocketPort: -1 }, 'INVALID_ARGUMENT', /^websocketPort must be/],
        [{ origins: 'http://a' }, 'INVALID_ARGUMENT', /'origins' of Server\.start must be an array/],
        [{ origins: [5] }, 'INVALID_ARGUMENT', /origins/],
        [{ credentials: {} }, 'INVALID_ARGUMENT', /need a certificate and its privateKey/],
        [{ host: 'nowhere.invalid' }, 'UNAVAILABLE', /^the server cannot listen on nowhere\.invalid:0: /],
        [
          { websocketPort: Number(new URL(websocketTarget).port) },
          'UNAVAILABLE',
          /^the server cannot listen on 127/,
        ],
        [{ port: 1, host: 'nowhere.invalid' }, 'UNAVAILABLE', /^the server cannot listen on nowhere/],
      ];
      for (const [options, code, message] of refusals)
        await assert.rejects(started(options), { code, message }, JSON.stringify(options));
      assert.equal(tf.memory().liveBytes, before.liveBytes);
    });
  });

  it('carry tensors of every kind, small and large, and leave those of the user alone', async () => {
    const g = graph();
    const session = opened(g, await started());
    const values = [
      tf.tensor([1.5, -0, Infinity, NaN]),
      tf.tensor(new Float64Array(700_000).map((_, i) => i / 7)),
      tf.tensor(new BigInt64Array(1000).fill(-5n), [10, 100]),
      tf.tensor([], [0, 3], 'int32'),
      tf.tensor([true, false]),
      tf.tensor(['a', 'ä', '', 'x'.repeat(3_000_000)]),
      tf.tensor([{ re: 1, im: -2 }]),
      tf.tensor(-3, [], 'int8'),
      /* Contents of one piece, of a piece and a byte, of pieces. */
      tf.tensor(new Uint8Array(2 ** 20).fill(7)),
      tf.tensor(new Uint8Array(2 ** 20 + 1).fill(8)),
      tf.tensor(new Uint8Array(2 ** 22).fill(9)),
    ];
    const places = values.map(({ dtype }) => g.identity(g.placeholder(dtype)));
    const inputs = places.map((place) => place.operation.inputs[0]);
    const results = await session.run(places, new Map(values.map((value, i) => [inputs[i], value])));
    for (const [i, { dtype, shape, data }] of results.entries()) {
      assert.equal(dtype, values[i].dtype);
      assert.deepEqual([shape, data], [values[i].shape, values[i].data]);
    }
  });

  it('carry the files of a model, whose variables a server restores', async () => {
    const { websocketTarget } = await started();
    const folder = fileURLToPath(new URL('../data/models/saved/module', import.meta.url));
    const [here, there] = await Promise.all(
      ['', websocketTarget].map((target) => tf.load(folder, { session: { target } })),
    );
    ended.push(
      () => here.close(),
      () => there.close(),
    );
    const feeds = { x: [[1, 2, 3]] };
    assert.deepEqual((await there.run(feeds)).y.array(), (await here.run(feeds)).y.array());
  });

  it('keep the order of steps, whatever their size', async () => {
    const g = graph();
    const x = g.placeholder('float32', [null]);
    const v = g.variable(0, { name: 'v' });
    const set = g.op('AssignVariableOp', [v.handle, g.sum(x, [0])]);
    const session = opened(g, await started());
    await session.run(g.initializer());
    const sums = [];
    for (const size of [3_000_000, 1, 1_000_000, 2]) {
      void session.run([], new Map([[x, new Float32Array(size).fill(1)]]), { targets: [set] });
      sums.push(session.run(v));
    }
    assert.deepEqual(
      (await Promise.all(sums)).map((sum) => sum.item()),
      [3_000_000, 1, 1_000_000, 2],
    );
  });

  describe('encrypt', () => {
    const pair = { certificate: pem('server'), privateKey: pem('server-key') };
    const rootCertificates = pem('root');
    const step = async (server, credentials) => {
      const g = graph();
      return (
        await opened(g, server, { credentials, operationTimeoutMs: 5000 }).run(square(g), { x: 3 })
      ).item();
    };

    it('with credentials, for those who trust the certificate', async () => {
      const server = await started({ host: 'localhost', credentials: pair });
      assert.match(server.websocketTarget, /^wss:\/\/localhost:\d+$/);
      assert.equal(await step(server, { rootCertificates }), 9);
      await assert.rejects(step(server, {}), { code: 'UNAVAILABLE', message: /certificate/ });
      await assert.rejects(step(server), UnavailableError);
    });

    it('and ask clients for certificates with rootCertificates', async () => {
      const server = await started({ host: 'localhost', credentials: { ...pair, rootCertificates } });
      const own = { certificate: pem('client'), privateKey: pem('client-key') };
      assert.equal(await step(server, { rootCertificates, ...own }), 9);
      await assert.rejects(step(server, { rootCertificates }), UnavailableError);
    });

    it('not with credentials that make no sense', async () => {
      for (const [target, credentials, message] of [
        ['ws://localhost:1', {}, /^credentials need the target wss:\/\/, not "ws:\/\/localhost:1"$/],
        ['wss://localhost:1', { certificate: 'x' }, /both certificate and privateKey/],
        ['ws://', undefined, /is not of the form ws:\/\/host:port/],
        ['ws://a:b', undefined, /is not of the form/],
        ['ws://a/#b', undefined, /is not of the form/],
      ])
        assert.throws(() => new tf.Session(graph(), { target, credentials }), {
          name: 'InvalidArgumentError',
          message,
        });
      const broken = { certificate: 'no certificate', privateKey: 'no key' };
      const error = await failureOf('wss://localhost:1', { credentials: broken });
      assert.equal(error.code, 'INVALID_ARGUMENT');
      assert.match(error.message, /^the credentials are not valid: /);
    });
  });

  describe('admit', () => {
    const stepOf = async (server, origin) => {
      const g = graph();
      square(g);
      const raw = await rawClient(server, origin === undefined ? {} : { origin });
      if (raw.socket.readyState !== WebSocket.OPEN) return raw.closed;
      raw.call('CreateSession', { graphDef: g.toGraphDef() });
      return Promise.race([raw.next(), raw.closed]);
    };

    it('pages of this machine, and programs, by default', async () => {
      const server = await started();
      const admitted = [
        'http://localhost',
        'https://localhost:8443',
        'http://127.0.0.1:3000',
        'http://[::1]:1',
      ];
      for (const origin of [undefined, ...admitted])
        assert.equal((await stepOf(server, origin)).id, 1, origin);
      const refused = [
        'http://example.org',
        'http://localhost.example.org',
        'https://127.0.0.1.nip.io',
        'null',
      ];
      for (const origin of refused) {
        const { code, reason } = await stepOf(server, origin);
        assert.deepEqual(
          [code, reason.startsWith(`the server does not serve pages of ${origin}`)],
          [1008, true],
        );
      }
    });

    it('pages of the origins of a list, and of every origin with *', async () => {
      const server = await started({ origins: ['https://example.org'] });
      assert.equal((await stepOf(server, 'https://example.org')).id, 1);
      assert.equal((await stepOf(server, 'http://localhost')).code, 1008);
      assert.equal((await stepOf(await started({ origins: [] }), 'http://localhost')).code, 1008);
      assert.equal((await stepOf(await started({ origins: ['*'] }), 'http://example.org')).id, 1);
    });
  });

  describe('a step without end', () => {
    const running = async () => {
      const server = await started();
      const g = graph();
      const fetch = [`${endless(g).operation.name}:0`];
      const before = tf.memory();
      return { ...(await rawSession(server, g)), server, g, before, fetch };
    };

    it('ends when its client is gone, and its session with it', async () => {
      for (const leave of [(socket) => socket.terminate(), (socket) => socket.close()]) {
        const { socket, call, sessionHandle, fetch, before } = await running();
        call('RunStep', { sessionHandle, fetch });
        await pause(100);
        assert.equal(tf.memory().sessions, before.sessions + 1);
        leave(socket);
        await becomes(() => tf.memory().sessions, before.sessions);
        await becomes(() => tf.memory().liveBytes, before.liveBytes);
      }
    });

    it('ends when its client cancels it', async () => {
      const { socket, call, next, sessionHandle, fetch } = await running();
      call('RunStep', { sessionHandle, fetch });
      await pause(50);
      socket.send('{"cancel":2}');
      const { id, code, message } = await next();
      assert.deepEqual([id, code], [2, 1], message);
      call('CloseSession', { sessionHandle });
      assert.equal((await next()).id, 3);
    });

    it('ends with an abort or at its time, and the session goes on', async () => {
      const g = graph();
      const forever = endless(g);
      const y = square(g);
      const session = opened(g, await started());
      const stop = new AbortController();
      const outcome = session.run(forever, {}, { signal: stop.signal });
      setTimeout(() => stop.abort(), 50);
      await assert.rejects(outcome, CancelledError);
      await assert.rejects(session.run(forever, {}, { timeoutMs: 100 }), { code: 'DEADLINE_EXCEEDED' });
      const aborted = AbortSignal.abort();
      await assert.rejects(session.run(forever, {}, { signal: aborted }), CancelledError);
      assert.equal((await session.run(y, { x: 3 })).item(), 9);
    });

    it('ends when the server is closed: the client learns what to do', async () => {
      const before = tf.memory();
      const server = await tf.Server.start({ websocketPort: 0 });
      const g = new tf.Graph();
      const session = new tf.Session(g, { target: server.target });
      const outcome = session.run(endless(g)).then(assert.fail, (error) => error);
      await becomes(() => tf.memory().sessions, before.sessions + 1);
      await server.close();
      await server.closed;
      const error = await outcome;
      assert.ok(error instanceof UnavailableError, String(error));
      assert.match(
        error.message,
        /\(the server was closed\), and the sessions that it carried have ended\n.*make a new session/s,
      );
      await assert.rejects(session.run(square(g), { x: 1 }), UnavailableError);
      await session.close();
      g.dispose();
      assert.deepEqual(
        [tf.memory().sessions, tf.memory().graphs, tf.memory().liveBytes],
        [before.sessions, before.graphs, before.liveBytes],
      );
    });

    it('fails when the connection is cut; the variables are there for a new session', async () => {
      const server = await started();
      const sockets = [];
      const proxy = net.createServer((socket) => {
        const other = net.connect(Number(new URL(server.websocketTarget).port), '127.0.0.1');
        for (const one of [socket, other]) sockets.push(one.on('error', () => {}));
        socket.pipe(other).pipe(socket);
      });
      await once(proxy.listen(0, '127.0.0.1'), 'listening');
      ended.push(() => proxy.close());
      const g = graph();
      const v = g.variable(7, { name: 'v' });
      const forever = endless(g);
      const session = opened(g, { websocketTarget: `ws://127.0.0.1:${proxy.address().port}` });
      await session.run(g.initializer());
      const outcome = session.run(forever);
      await pause(100);
      for (const socket of sockets) socket.destroy();
      await assert.rejects(outcome, {
        code: 'UNAVAILABLE',
        message: /\(with code 1006\).*make a new session/s,
      });
      assert.equal((await opened(g, server).run(v)).item(), 7);
    });
  });

  it('are free for other steps when a large feed was given up', async () => {
    const g = graph();
    const x = g.placeholder('float32', [null]);
    const y = g.sum(x, [0]);
    const session = opened(g, await started());
    assert.equal((await session.run(y, new Map([[x, [1, 2]]]))).item(), 3);
    for (const wait of [0, 1, 20]) {
      const stop = new AbortController();
      const large = session.run(y, new Map([[x, new Float32Array(20_000_000)]]), { signal: stop.signal });
      setTimeout(() => stop.abort(), wait);
      await assert.rejects(large, CancelledError);
      assert.equal((await session.run(y, new Map([[x, [1, 2, 3]]]))).item(), 6);
    }
  });

  it('serve no more than a client reads', async () => {
    const g = graph();
    const x = g.placeholder('float32', [null], { name: 'x' });
    const large = g.fill([1 << 20], g.sum(x, [0]));
    const v = g.variable(0, { name: 'v' });
    const add = g.op('AssignAddVariableOp', [v.handle, g.constant(1)]);
    const server = await started();
    const watcher = opened(g, server);
    await watcher.run(g.initializer());
    const { socket, call, next, sessionHandle } = await rawSession(server, g);
    const steps = 30;
    socket.pause();
    /* Requests are large enough that they do not arrive all at once. */
    const feed = [{ name: 'x:0', tensor: tf.tensor(new Float32Array(100_000)) }];
    const fetch = [`${large.operation.name}:0`];
    for (let i = 0; i < steps; i++) call('RunStep', { sessionHandle, feed, fetch, target: [add.name] });
    let served;
    do {
      served = (await watcher.run(v)).item();
      await pause(200);
    } while ((await watcher.run(v)).item() !== served);
    assert.ok(served < steps, `${served} steps of 4 MB each`);
    socket.resume();
    for (let i = 0; i < steps; i++) assert.ok((await next()).contents.length > 4_000_000);
    assert.equal((await watcher.run(v)).item(), steps);
  });

  describe('end, and nothing else ends, with a client that sends', () => {
    const request = (sizes, more = {}) => JSON.stringify({ id: 1, method: 'CreateSession', sizes, ...more });
    const MESSAGES = {
      'text that is no JSON': ['{'],
      'JSON that is no frame': ['null'],
      'a list': ['[]'],
      'an id that is no number': [request([0], { id: '1' })],
      'an id below 0': [request([0], { id: -1 })],
      'no id': ['{"method":"Reset","sizes":[0]}'],
      'no method': ['{"id":1,"sizes":[0]}'],
      'a method that is no text': [request([0], { method: 5 })],
      'no sizes': ['{"id":1,"method":"Reset"}'],
      'an empty list of sizes': [request([])],
      'sizes below 0': [request([-1])],
      'sizes that are no numbers': [request(['1'])],
      'half a byte': [request([0.5])],
      'a size of more than 2 GiB': [request([2 ** 31])],
      'sizes of more than 2 GiB together': [request([2 ** 30, 2 ** 30])],
      'an infinite size': ['{"id":1,"method":"CreateSession","sizes":[1e999]}'],
      'contents without a frame': [new Uint8Array(3)],
      'more contents than announced': [request([2]), new Uint8Array(3)],
      'more contents than announced, later': [request([4]), new Uint8Array(3), new Uint8Array(2)],
      'a frame within a frame': [request([4]), new Uint8Array(3), request([4])],
      'an answer': ['{"id":1,"code":3,"message":"no"}'],
      'a cancel of nothing': ['{"cancel":"all"}'],
    };
    for (const [what, messages] of Object.entries(MESSAGES))
      it(what, async () => {
        const server = await started();
        const g = graph();
        const y = square(g);
        const session = opened(g, server);
        const before = tf.memory().sessions;
        const raw = await rawSession(server, g);
        for (const message of messages) raw.socket.send(message);
        const { code, reason } = await raw.closed;
        assert.equal(code, 1002);
        assert.match(reason, /^a message could not be read: /);
        assert.equal((await session.run(y, { x: 3 })).item(), 9);
        assert.equal(tf.memory().sessions, before + 1, 'the session of the other client');
      });

    it('a message that is longer than a piece', async () => {
      const server = await started();
      const raw = await rawClient(server);
      raw.socket.send(request([2 ** 23]));
      raw.socket.send(new Uint8Array(2 ** 23));
      assert.equal((await raw.closed).code, 1009);
    });

    it('half a frame, and no more', async () => {
      const server = await started();
      const before = tf.memory();
      const g = graph();
      const raw = await rawSession(server, g);
      raw.socket.send(request([2 ** 30]));
      raw.socket.send(new Uint8Array(10));
      raw.socket.terminate();
      await becomes(() => tf.memory().sessions, before.sessions);
    });

    it('another subprotocol, or none', async () => {
      const { websocketTarget } = await started();
      const none = new WebSocket(websocketTarget);
      const [code, reason] = await once(none, 'close');
      assert.deepEqual([code, String(reason)], [1002, `the subprotocol must be ${PROTOCOL}`]);
      const [error] = await once(new WebSocket(websocketTarget, ['other']), 'error');
      assert.match(error.message, /subprotocol/);
    });
  });

  describe('answer with statuses', () => {
    it('calls of bytes that are no message, of methods and sessions that are not there', async () => {
      const { socket, call, next } = await rawClient(await started());
      socket.send('{"id":1,"method":"RunStep","sizes":[3]}');
      socket.send(new Uint8Array(3).fill(0xff));
      assert.equal((await next()).code, 3);
      socket.send('{"id":2,"method":"constructor","sizes":[0]}');
      const { id, code } = await next();
      assert.deepEqual([id, code], [2, 5]);
      call('RunStep', { sessionHandle: '0123456789abcdef' });
      assert.equal((await next()).code, 10);
    });

    it('whose messages are long', async () => {
      const { call, next, sessionHandle } = await rawSession(await started(), graph());
      for (const letter of ['a', '€', '😀', '"']) {
        call('RunStep', { sessionHandle, fetch: [letter.repeat(500_000)] });
        const { code, message } = await next();
        assert.equal(code, 5);
        assert.ok(message.includes(letter.repeat(10_000)) && message.endsWith(' ... [truncated]'));
      }
    });
  });

  describe('fail with what to do when', () => {
    it('nobody listens, or nobody has the name', async () => {
      const [port] = await freePorts(1);
      const refused = await failureOf(`ws://127.0.0.1:${port}`);
      assert.equal(refused.code, 'UNAVAILABLE');
      assert.match(refused.message, /ECONNREFUSED.*\nDoes the server ws:\/\/127\.0\.0\.1:\d+ run/s);
      assert.equal((await failureOf('ws://nowhere.invalid:1')).code, 'UNAVAILABLE');
      await assert.rejects(tf.Session.reset(`ws://127.0.0.1:${port}`), UnavailableError);
    });

    it('the server speaks another protocol', async () => {
      const plain = http.createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
      const other = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => false });
      await Promise.all([once(plain, 'listening'), once(other, 'listening')]);
      ended.push(
        () => plain.close(),
        () => other.close(),
      );
      for (const one of [plain, other])
        assert.equal((await failureOf(`ws://127.0.0.1:${one.address().port}`)).code, 'UNAVAILABLE');
    });

    it('the server is silent', async () => {
      const sockets = [];
      const silent = net.createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      ended.push(() => {
        for (const socket of sockets) socket.destroy();
        silent.close();
      });
      const error = await failureOf(`ws://127.0.0.1:${silent.address().port}`, { operationTimeoutMs: 300 });
      assert.equal(error.code, 'DEADLINE_EXCEEDED');
      assert.match(error.message, /did not answer CreateSession within 300 ms/);
    });

    it('the server does not serve the page', async () => {
      const refusing = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => PROTOCOL });
      refusing.on('connection', (socket) =>
        socket.close(1008, 'the server does not serve pages of http://a'),
      );
      await once(refusing, 'listening');
      ended.push(() => refusing.close());
      const error = await failureOf(`ws://127.0.0.1:${refusing.address().port}`);
      assert.ok(error instanceof PermissionDeniedError);
      assert.equal(error.message, 'the server does not serve pages of http://a');
    });

    it('the server sends what is no answer', async () => {
      const answers = [
        ['{'],
        ['{"id":1}'],
        ['{"id":1,"sizes":[1]}', new Uint8Array(2)],
        [new Uint8Array(2)],
        ['{"id":1,"sizes":[4]}', '{"id":1,"sizes":[4]}'],
        ['{"id":1,"code":"3"}'],
      ];
      const wrong = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => PROTOCOL });
      await once(wrong, 'listening');
      ended.push(() => wrong.close());
      for (const messages of answers) {
        wrong.removeAllListeners('connection').on('connection', (socket) => {
          for (const message of messages) socket.send(message);
        });
        const error = await failureOf(`ws://127.0.0.1:${wrong.address().port}`);
        assert.equal(error.code, 'UNAVAILABLE', String(error));
        assert.match(error.message, /\(a message could not be read: /);
      }
    });

    it('the sessions of the server were reset', async () => {
      const server = await started();
      const g = graph();
      const v = g.variable(1, { name: 'v' });
      const session = opened(g, server);
      await session.run(g.initializer());
      await tf.Session.reset(server.websocketTarget);
      await assert.rejects(session.run(v), {
        code: 'ABORTED',
        message: /its sessions were reset, make a new/,
      });
      await assert.rejects(opened(g, server).run(v), { code: 'FAILED_PRECONDITION' });
    });
  });

  it('do not carry more than 2 GiB in a message', async () => {
    const g = graph();
    const x = g.placeholder('uint8', [null]);
    const session = opened(g, await started());
    await assert.rejects(session.run(g.identity(x), new Map([[x, new Uint8Array(2 ** 31)]])), {
      code: 'INVALID_ARGUMENT',
      message: /^the message of RunStep would have 2147483648 bytes, .*: feed the values in parts$/,
    });
  });

  it('need no more memory after 2,000 steps', async () => {
    const g = graph();
    const y = square(g);
    const session = opened(g, await started());
    const steps = async (count) => {
      for (let i = 0; i < count; i += 10)
        await Promise.all(Array.from({ length: 10 }, () => session.run(y, { x: [1, 2, 3] })));
      return tf.memory().liveBytes;
    };
    assert.equal(await steps(10), await steps(2000));
  });

  it('do not keep a process alive, and need the package ws where the host has no WebSocket', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'websocket-'));
    ended.push(() => rmSync(folder, { recursive: true, force: true }));
    const { websocketTarget } = await started();
    cpSync(DIST, path.join(folder, 'dist'), { recursive: true });
    const program = (action) => `
      import { init } from './dist/index.js';
      const tf = await init({ threads: 1 });
      const g = new tf.Graph();
      const failed = (error) => error.name + ': ' + error.message;
      ${action}`;
    const step = `const session = new tf.Session(g, { target: '${websocketTarget}' });
      console.log(await session.run(g.constant(7)).then(String, failed));`;
    const serving = `console.log(await tf.Server.start({ websocketPort: 0 }).then(String, failed));`;
    const run = async (text, ...flags) => {
      const file = path.join(folder, 'program.mjs');
      writeFileSync(file, program(text));
      return (await promisify(execFile)(process.execPath, [...flags, file], { timeout: 20_000 })).stdout;
    };
    const flag = '--experimental-websocket';
    const hasOwn = process.allowedNodeEnvironmentFlags.has(flag);
    const hidden = typeof WebSocket === 'undefined' ? [] : ['--no-experimental-websocket'];
    assert.match(
      await run(step, ...hidden),
      /^FailedPreconditionError: in Node, targets ws:\/\/ and wss:\/\/ .* need the package ws: npm install ws \(/,
    );
    assert.match(
      await run(serving),
      /^FailedPreconditionError: servers of WebSockets need the package ws: npm install ws \(/,
    );
    if (hasOwn)
      assert.match(await run(`${step} await session.close();`, flag), /^Tensor<float32 \[\]: 7>\n$/);
    symlinkSync(MODULES, path.join(folder, 'node_modules'));
    assert.match(await run(step), /^Tensor<float32 \[\]: 7>\n$/);
  });
});
