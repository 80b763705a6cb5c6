// TensorFlow's master messages, and the service that answers them. The recorded bytes are those of TensorFlow's
// own client and server (tests/oracle/master_messages.py).
import assert from 'node:assert/strict';
import {
  init,
  master,
  MasterService,
  pack,
  RemoteBackend,
  runtimeOf,
  unpack,
} from '../../build/js/service.js';
import { isPage, readText } from './engine.mjs';

const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

describe("TensorFlow's master messages", () => {
  let calls;
  before(async () => {
    const lines = (await readText('tests/data/oracle/master_messages.txt')).split('\n').filter(Boolean);
    calls = lines.map((line) => {
      const [method, request, response] = line.split('\t');
      return { method, request, response };
    });
  });

  const requestsOf = (wanted) =>
    calls
      .filter(({ method }) => method === wanted)
      .map(({ method, request }) => master[method].request.decode(fromHex(request)));
  const responsesOf = (wanted) =>
    calls
      .filter(({ method }) => method === wanted)
      .map(({ method, response }) => master[method].response.decode(fromHex(response)));

  it('are encoded as TensorFlow encodes them', () => {
    for (const { method, request, response } of calls) {
      const { request: Request, response: Response } = master[method];
      assert.equal(toHex(Request.encode(Request.decode(fromHex(request)))), request, method);
      /* Of devices some fields are left out, and strings have a second form. */
      const isWhole = method !== 'ListDevices' && !response.includes(toHex(Uint8Array.of(1, 2, 97, 255)));
      if (isWhole) assert.equal(toHex(Response.encode(Response.decode(fromHex(response)))), response, method);
    }
    assert.deepEqual(
      [...new Set(calls.map(({ method }) => method))].sort(),
      [
        'CloseSession',
        'CreateSession',
        'ExtendSession',
        'ListDevices',
        'PartialRunSetup',
        'Reset',
        'RunStep',
      ].sort(),
    );
  });

  it('are read as what the client had asked for, and the server had answered', () => {
    const [created] = responsesOf('CreateSession');
    const extensions = requestsOf('ExtendSession');
    assert.ok(extensions.length >= 3);
    assert.deepEqual(
      extensions.map(({ sessionHandle, currentGraphVersion }) => [sessionHandle, currentGraphVersion]),
      extensions.map((_, i) => [created.sessionHandle, created.graphVersion + BigInt(i)]),
    );
    assert.deepEqual(
      responsesOf('ExtendSession').map(({ newGraphVersion }) => newGraphVersion),
      extensions.map((_, i) => created.graphVersion + BigInt(i + 1)),
    );
    const steps = requestsOf('RunStep');
    assert.deepEqual([steps[0].feed[0].name, steps[0].feed[0].tensor.array()], ['x:0', [[1, 2]]]);
    assert.deepEqual([steps[0].fetch, steps[0].target, steps[1].target], [['y:0'], [], ['v/Assign']]);
    assert.equal(master.RunOptions.decode(steps[2].options).timeoutInMs, 5000n);
    assert.equal(steps[5].partialRunHandle, responsesOf('PartialRunSetup')[0].partialRunHandle);
    const answers = responsesOf('RunStep');
    const tensors = answers.map(({ tensor }) =>
      Object.fromEntries(tensor.map((named) => [named.name, named.tensor.array()])),
    );
    assert.deepEqual(tensors[0], { 'y:0': [[1, 4]] });
    assert.deepEqual(tensors[2]['v:0'], [1.5, -2]);
    assert.deepEqual(tensors[3]['longs:0'], [2n ** 40n, -1n]);
    assert.deepEqual(tensors[3]['names:0'], [Uint8Array.of(97), Uint8Array.of(255, 0)]);
    assert.equal(answers[4].statusCode, 3);
    assert.match(answers[4].statusErrorMessage, /You must feed a value for placeholder tensor 'x'/);
    const [devices] = responsesOf('ListDevices');
    assert.deepEqual(
      devices.localDevice.map(({ name, deviceType, memoryLimit }) => [name, deviceType, memoryLimit]),
      [['/job:local/replica:0/task:0/device:CPU:0', 'CPU', 268435456n]],
    );
    assert.deepEqual(requestsOf('Reset')[0].container, ['box']);
  });

  it('that are cut off are refused, and unknown fields ignored', () => {
    for (const { method, request } of calls) {
      const bytes = fromHex(request);
      const { request: Request } = master[method];
      const whole = Request.decode(bytes);
      assert.deepEqual(Request.decode(Uint8Array.of(...bytes, 0x98, 0x06, 7)), whole);
      for (let length = 0; length < bytes.length; length++) {
        try {
          Request.decode(bytes.slice(0, length));
        } catch (error) {
          assert.equal(error.code, 'INVALID_ARGUMENT', String(error));
        }
      }
    }
  });
});

describe('MasterService', () => {
  let tf;
  let service;
  before(async () => {
    const folder = isPage ? '/npm/dist/' : new URL('../../npm/dist/', import.meta.url);
    tf = await init({ threads: 1, wasm: folder });
    service = new MasterService(runtimeOf(tf));
  });

  /** Calls a method with plain bytes, as a transport to another machine does. */
  const call = async (name, request, { signal = new AbortController().signal, buffers = false } = {}) => {
    const method = master[name];
    const response = await service.table.call(name, pack(method.request, request, buffers), signal, buffers);
    if (!buffers) assert.equal(response.buffers.length, 0);
    return unpack(method.response, response);
  };

  /** A GraphDef of what `build` adds to `g`. */
  const defOf = (build) => {
    const g = new tf.Graph();
    build(g);
    const bytes = g.toGraphDef();
    g.dispose();
    return bytes;
  };
  const square = () => defOf((g) => g.square(g.placeholder('float32', null, { name: 'x' }), { name: 'y' }));

  it('runs the steps of a session with plain bytes', async () => {
    const { sessionHandle, graphVersion } = await call('CreateSession', { graphDef: square() });
    assert.match(sessionHandle, /^[0-9a-f]{16}$/);
    assert.equal(graphVersion, 0n);
    const feed = [{ name: 'x:0', tensor: tf.tensor(new Float32Array(5000).fill(3)) }];
    const { tensor, statusCode } = await call('RunStep', { sessionHandle, feed, fetch: ['y:0'] });
    assert.deepEqual([statusCode, tensor[0].name, tensor[0].tensor.data[4999]], [0, 'y:0', 9]);
    assert.equal(feed[0].tensor.data.length, 5000);
    await call('CloseSession', { sessionHandle });
    await assert.rejects(call('CloseSession', { sessionHandle }), {
      code: 'ABORTED',
      message: `Session ${sessionHandle} is not found. Possibly, this master has restarted.`,
    });
  });

  it('extends graphs, and refuses another version than its own', async () => {
    const { sessionHandle } = await call('CreateSession', { graphDef: square() });
    const extend = (currentGraphVersion, graphDef) =>
      call('ExtendSession', { sessionHandle, currentGraphVersion, graphDef });
    const whole = defOf((g) => {
      const y = g.square(g.placeholder('float32', null, { name: 'x' }), { name: 'y' });
      g.neg(y, { name: 'z', controlInputs: [g.operation('x')] });
    });
    /* Its last node alone: it uses the two of the session. */
    const nodes = unpackNodes(whole);
    const added = nodes.at(-1);
    assert.equal((await extend(0n, added)).newGraphVersion, 1n);
    const feed = [{ name: 'x', tensor: tf.tensor(3) }];
    const run = (fetch) => call('RunStep', { sessionHandle, feed, fetch: [fetch] });
    assert.equal((await run('z:0')).tensor[0].tensor.item(), -9);
    await assert.rejects(extend(0n, added), {
      code: 'ABORTED',
      message: 'Current version is 1 but caller expected 0.',
    });
    await assert.rejects(extend(1n, added), {
      code: 'INVALID_ARGUMENT',
      message: /'z', which was created by a previous call/,
    });
    await assert.rejects(run('nowhere:0'), { code: 'NOT_FOUND' });
    await call('CloseSession', { sessionHandle });
  });

  it('puts errors of steps into the response if the client wants that', async () => {
    const { sessionHandle } = await call('CreateSession', { graphDef: square() });
    const step = { sessionHandle, fetch: ['y:0'] };
    await assert.rejects(call('RunStep', step), { code: 'INVALID_ARGUMENT', message: /must feed a value/ });
    const response = await call('RunStep', { ...step, storeErrorsInResponseBody: true });
    assert.equal(response.statusCode, 3);
    assert.match(response.statusErrorMessage, /must feed a value for placeholder tensor 'x'/);
    await call('CloseSession', { sessionHandle });
  });

  it('has callables by handles', async () => {
    const { sessionHandle } = await call('CreateSession', { graphDef: square() });
    const make = () => call('MakeCallable', { sessionHandle, options: { feed: ['x:0'], fetch: ['y:0'] } });
    const [first, second] = [await make(), await make()];
    assert.deepEqual([first.handle, second.handle], [0n, 1n]);
    const run = (handle, ...feed) => call('RunCallable', { sessionHandle, handle, feed });
    const { fetch } = await run(1n, tf.tensor([2, -3]));
    assert.deepEqual(fetch[0].array(), [4, 9]);
    await assert.rejects(run(1n), /Expected 1 feed tensors, but got 0/);
    await assert.rejects(run(7n, tf.tensor(1)), { message: 'No such callable handle: 7' });
    await call('ReleaseCallable', { sessionHandle, handle: 1n });
    await assert.rejects(run(1n, tf.tensor(1)), {
      code: 'INVALID_ARGUMENT',
      message: 'Attempted to run callable after handle was released: 1',
    });
    await assert.rejects(
      call('ReleaseCallable', { sessionHandle, handle: 9n }),
      /No such callable handle: 9/,
    );
    await call('CloseSession', { sessionHandle });
  });

  it('refuses what it does not know, and bytes that are no message', async () => {
    await assert.rejects(service.table.call('Nothing', { bytes: new Uint8Array(0), buffers: [] }), {
      code: 'NOT_FOUND',
    });
    const noise = { bytes: Uint8Array.of(0x0a, 200, 1), buffers: [] };
    for (const method of Object.keys(master).filter((name) => master[name].request))
      await assert.rejects(service.table.call(method, noise, new AbortController().signal, false), {
        code: 'INVALID_ARGUMENT',
      });
    await assert.rejects(call('CreateSession', { graphDef: Uint8Array.of(1, 2, 3) }), {
      code: 'INVALID_ARGUMENT',
    });
    await assert.rejects(call('CreateSession', { config: Uint8Array.of(1, 2, 3) }), {
      code: 'INVALID_ARGUMENT',
    });
    const { sessionHandle } = await call('CreateSession', {});
    await assert.rejects(call('RunStep', { sessionHandle, feed: [{ name: 'x:0' }] }), { code: 'NOT_FOUND' });
    await call('CloseSession', { sessionHandle });
  });

  it('leaves nothing behind after a session, and none after Reset', async () => {
    const before = tf.memory();
    const handles = [];
    for (let i = 0; i < 3; i++) {
      const { sessionHandle } = await call('CreateSession', { graphDef: square() });
      handles.push(sessionHandle);
      await call('MakeCallable', { sessionHandle, options: { feed: ['x:0'], fetch: ['y:0'] } });
      await call('PartialRunSetup', { sessionHandle, feed: ['x:0'], fetch: ['y:0'] });
    }
    assert.equal(tf.memory().sessions, before.sessions + 3);
    await call('CloseSession', { sessionHandle: handles[0] });
    await call('Reset', { container: [] });
    const after = tf.memory();
    assert.deepEqual(
      [after.sessions, after.graphs, after.callables, after.tensors],
      [before.sessions, before.graphs, before.callables, before.tensors],
    );
    await assert.rejects(call('RunStep', { sessionHandle: handles[1] }), { code: 'ABORTED' });
  });
});

describe('RemoteBackend', () => {
  let tf;
  let service;
  before(async () => {
    const folder = isPage ? '/npm/dist/' : new URL('../../npm/dist/', import.meta.url);
    tf = await init({ threads: 1, wasm: folder });
    service = new MasterService(runtimeOf(tf));
  });

  /** Calls the service with plain bytes, and logs the methods. */
  const transportTo = (log) => ({
    carriesBuffers: false,
    call(method, request, { signal = new AbortController().signal }) {
      assert.equal(request.buffers.length, 0);
      log.push(method);
      return service.table.call(method, request, signal, false);
    },
  });

  const values = (...list) => ({ tensors: list.map((one) => tf.tensor(one)), isOwned: () => false });
  const results = (read) => read().map((tensor) => tensor.array());

  it('runs steps over a transport of plain bytes, and extends the graph when it has grown', async () => {
    const [g, log, released] = [new tf.Graph(), [], []];
    const x = g.placeholder('float32', null, { name: 'x' });
    const y = g.square(x);
    const backend = new RemoteBackend(transportTo(log), g, new Uint8Array(0), () => released.push(1));
    const run = (fetch, value) =>
      backend.run({ feeds: [x], fetches: [fetch], targets: [] }, values(value), {}, results);
    assert.deepEqual(await run(y, [3, 4]), [[9, 16]]);
    const z = g.neg(y);
    assert.deepEqual(await Promise.all([run(z, 2), run(y, 5)]), [[-4], [25]]);
    assert.deepEqual((await run(z, new Float32Array(5000).fill(2)))[0][4999], -4);
    const callable = backend.makeCallable({ feeds: [x], fetches: [z], targets: [] }, [], {});
    assert.deepEqual(await callable.run(values(3), {}, results), [-9]);
    assert.equal((await backend.listDevices())[0].type, 'CPU');
    await Promise.all([backend.close(), backend.close()]);
    assert.deepEqual(log, [
      'CreateSession',
      'RunStep',
      'ExtendSession',
      'RunStep',
      'RunStep',
      'RunStep',
      'MakeCallable',
      'RunCallable',
      'ListDevices',
      'CloseSession',
    ]);
    assert.deepEqual(released, [1]);
    g.dispose();
  });

  it('ends the session of the service also when that refused an extension', async () => {
    const before = tf.memory();
    const g = new tf.Graph();
    const transport = transportTo([]);
    const backend = new RemoteBackend(
      {
        ...transport,
        call: (method, request, options) =>
          transport.call(
            method,
            method === 'ExtendSession'
              ? pack(master.ExtendSession.request, {
                  ...unpack(master.ExtendSession.request, request),
                  currentGraphVersion: 7n,
                })
              : request,
            options,
          ),
      },
      g,
      new Uint8Array(0),
      () => {},
    );
    const plan = { feeds: [], fetches: [g.constant(1)], targets: [] };
    for (let i = 0; i < 2; i++)
      await assert.rejects(backend.run(plan, values(), {}, results), {
        code: 'ABORTED',
        message: 'Current version is 0 but caller expected 7.',
      });
    await backend.close();
    g.dispose();
    assert.deepEqual([tf.memory().sessions, tf.memory().graphs], [before.sessions, before.graphs]);
  });
});

/** The nodes of a GraphDef, a GraphDef each. */
function unpackNodes(bytes) {
  const nodes = [];
  for (let at = 0; bytes[at] === 0x0a; ) {
    assert.ok(bytes[at + 1] < 0x80);
    const end = at + 2 + bytes[at + 1];
    nodes.push(bytes.slice(at, end));
    at = end;
  }
  return nodes;
}
