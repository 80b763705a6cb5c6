// The WorkerService with raw calls, as a master makes them that is wrong or gone. TensorFlow's worker gets the same calls,
// and says the same.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import grpc from '@grpc/grpc-js';
import { worker } from '../../build/js/service.js';
import { engine } from './engine.mjs';
import { startMixedCluster } from './mixed-servers.mjs';
import { needTensorFlow, newCluster } from './tensorflow-servers.mjs';

const same = (bytes) => bytes;
const DEVICE = '/job:worker/replica:0/task:0/device:CPU:0';

/** `call(method, values)` of a client that is no master; it rejects with gRPC's status. */
function clientOf(target) {
  const client = new grpc.Client(target.slice('grpc://'.length), grpc.credentials.createInsecure());
  const send = (method, bytes, begun = () => {}) =>
    new Promise((resolve, reject) => {
      const path = `/tensorflow.${worker[method].name}`;
      const options = { deadline: Date.now() + 20_000 };
      begun(
        client.makeUnaryRequest(path, same, same, Buffer.from(bytes), options, (error, response) =>
          error ? reject(error) : resolve(worker[method].response.decode(new Uint8Array(response))),
        ),
      );
    });
  return {
    send,
    call: (method, values = {}, begun = undefined) =>
      send(method, worker[method].request.encode(values), begun),
    close: () => client.close(),
  };
}

/** How a call ends, without the numbers that differ from server to server. */
const ending = (call) =>
  call.then(
    () => 'OK',
    ({ code, details }) =>
      `${grpc.status[code]}: ${details.replaceAll(/\b[0-9a-f]{16}\b|\b\d{17,}\b/g, 'N')}`,
  );

const key = (incarnation, name = 'x') =>
  `${DEVICE};${BigInt.asUintN(64, incarnation).toString(16).padStart(16, '0')};/job:far/replica:0/task:0/device:CPU:0;${name};0:0`;

describe('the WorkerService', function () {
  this.timeout(60_000);
  let tf;
  let server, far, client, incarnation;
  before(async () => {
    tf = await engine();
  });
  beforeEach(async () => {
    const cluster = await newCluster({ worker: 1, far: 1 });
    server = await tf.Server.start({ cluster, job: 'worker' });
    far = await tf.Server.start({ cluster, job: 'far' });
    client = clientOf(server.target);
    incarnation = (await client.call('GetStatus')).deviceAttributes[0].incarnation;
  });
  afterEach(async () => {
    client.close();
    await server.close();
    await far.close();
  });

  /** The GraphDef of a graph whose nodes are on the device of the server. */
  function graphDef(build) {
    const g = new tf.Graph();
    tf.device(DEVICE, () => build(g));
    const bytes = g.toGraphDef();
    g.dispose();
    return bytes;
  }
  const attrs = (name, from = DEVICE) => ({
    tensor_name: name,
    send_device: from,
    send_device_incarnation: BigInt.asIntN(64, incarnation),
    recv_device: '/job:far/replica:0/task:0/device:CPU:0',
  });
  const sendsSeven = () =>
    graphDef((g) => g.op('_Send', [g.constant(7)], { name: 'send', attrs: attrs('x') }));
  const handleOf = async (bytes) => (await client.call('RegisterGraph', { graphDef: bytes })).graphHandle;

  it('gives a value to whoever asks for it, before or behind the step, and once', async () => {
    const graphHandle = await handleOf(sendsSeven());
    const early = client.call('RecvTensor', { stepId: 1n, rendezvousKey: key(incarnation), requestId: 1n });
    await pause(50);
    await client.call('RunGraph', { graphHandle, stepId: 1n });
    assert.equal((await early).tensor.item(), 7);
    await client.call('RunGraph', { graphHandle, stepId: 2n });
    const { tensor, isDead } = await client.call('RecvTensor', {
      stepId: 2n,
      rendezvousKey: key(incarnation),
    });
    assert.deepEqual([tensor.item(), isDead], [7, false]);
    const again = ending(client.call('RecvTensor', { stepId: 2n, rendezvousKey: key(incarnation) }));
    await pause(50);
    await client.call('CleanupGraph', { stepId: 2n });
    assert.equal(await again, 'ABORTED: Cleanup 2');
  });

  it('ends a step that a master gives up, and frees its values', async () => {
    const other = clientOf(far.target);
    const [{ incarnation: farIncarnation }] = (await other.call('GetStatus')).deviceAttributes;
    other.close();
    const waits = graphDef((g) => {
      const x = g.op('_Recv', [], {
        name: 'recv',
        attrs: {
          ...attrs('y', '/job:far/replica:0/task:0/device:CPU:0'),
          send_device_incarnation: BigInt.asIntN(64, farIncarnation),
          tensor_type: 'float32',
          recv_device: DEVICE,
        },
      });
      g.op('_Send', [g.neg(x.output(0))], { name: 'send', attrs: attrs('x') });
    });
    const graphHandle = await handleOf(waits);
    const live = () => tf.memory().tensors;
    const before = live();
    for (let stepId = 1n; stepId <= 20n; stepId++) {
      let made;
      const running = ending(
        client.call('RunGraph', { graphHandle, stepId }, (call) => {
          made = call;
        }),
      );
      await pause(20);
      made.cancel();
      assert.match(await running, /^CANCELLED/);
      await client.call('CleanupGraph', { stepId });
    }
    const going = ending(client.call('RunGraph', { graphHandle, stepId: 30n }));
    await pause(20);
    await client.call('DeregisterGraph', { graphHandle });
    await pause(20);
    await client.call('CleanupGraph', { stepId: 30n });
    assert.equal(await going, 'ABORTED: Cleanup 30', 'a step goes on without the registration of its graph');
    for (let i = 0; i < 50 && live() !== before; i++) await pause(20);
    assert.equal(live(), before);
  });

  it('keeps serving after half messages and messages that lie about their sizes', async () => {
    const graphHandle = await handleOf(sendsSeven());
    const whole = worker.RunGraph.request.encode({ graphHandle, stepId: 5n });
    for (const bytes of [whole.subarray(0, 7), Uint8Array.of(0x1a, 0xff, 0xff, 0xff, 0xff, 0x07, 1)])
      assert.match(await ending(client.send('RunGraph', bytes)), /^(INVALID_ARGUMENT|INTERNAL|ABORTED)/);
    assert.match(
      await ending(client.call('RegisterGraph', { graphDef: Uint8Array.of(10, 200, 1) })),
      /^INVALID_ARGUMENT/,
    );
    await client.call('RunGraph', { graphHandle, stepId: 6n });
    assert.equal(
      (await client.call('RecvTensor', { stepId: 6n, rendezvousKey: key(incarnation) })).tensor.item(),
      7,
    );
  });

  it("has the words of TensorFlow's worker for what a master may do wrong", async function () {
    needTensorFlow(this);
    const theirs = await startMixedCluster({ worker: 1 }, () => 'theirs');
    const bad = graphDef((g) => g.op('_Send', [g.gather([1, 2], [7])], { name: 'send', attrs: attrs('x') }));
    const outcomes = async (other) => {
      const [{ incarnation: number }] = (await other.call('GetStatus')).deviceAttributes;
      const failing = (await other.call('RegisterGraph', { graphDef: bad })).graphHandle;
      const session = { sessionHandle: 'none', createWorkerSessionCalled: true };
      const calls = [
        ['RunGraph', { graphHandle: '12', stepId: 1n }],
        ['RunGraph', { graphHandle: '12', stepId: 1n, ...session }],
        ['RunGraph', { graphHandle: failing, stepId: 2n, requestId: 9n }],
        ['RegisterGraph', { graphDef: sendsSeven(), ...session }],
        ['DeregisterGraph', { graphHandle: '12' }],
        ['DeregisterGraph', { graphHandle: failing }],
        ['DeregisterGraph', { graphHandle: failing }],
        ['DeleteWorkerSession', { sessionHandle: 'none' }],
        ['CleanupGraph', { stepId: 77n }],
        ['CleanupAll', { container: ['none'] }],
        ['RecvTensor', { stepId: 3n, rendezvousKey: key(number + 1n) }],
      ];
      const said = [];
      for (const [method, values] of calls)
        said.push(`${method}: ${await ending(other.call(method, values))}`);
      return said;
    };
    const other = clientOf(theirs.target);
    try {
      assert.deepEqual(await outcomes(client), await outcomes(other));
    } finally {
      other.close();
      await theirs.kill();
    }
  });

  it('refuses a partial run of a node that no task can run, and goes on', async () => {
    const g = new tf.Graph();
    const x = g.placeholder('float32', [null], { name: 'x' });
    const nowhere = tf.device('/job:none', () => g.neg(x, { name: 'nowhere' }));
    const session = new tf.Session(g, { target: server.target, allowSoftPlacement: false });
    await assert.rejects(session.partialRun([nowhere], [x]).run(nowhere, { x: [1] }), {
      name: 'InvalidArgumentError',
      message: /Cannot assign a device for operation nowhere/,
    });
    assert.equal((await session.listDevices()).length, 2);
    await session.close();
    g.dispose();
  });

  it('refuses what it was asked before', async () => {
    const graphHandle = await handleOf(sendsSeven());
    await client.call('RunGraph', { graphHandle, stepId: 1n, requestId: 4n });
    const again = client.call('RunGraph', { graphHandle, stepId: 1n, requestId: 4n });
    assert.match(await ending(again), /^ABORTED: The same RunGraph request was received twice/);
  });
});
