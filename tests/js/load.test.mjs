// tf.load: models as TensorFlow saved them (tests/oracle/saved_models.py), from every kind of source.
import assert from 'node:assert/strict';
import { Tensor } from '../../npm/dist/index.js';
import { engine, isClose, isPage, readBytes, readText } from './engine.mjs';

const ROOT = 'tests/data/models/saved';
const FILES = {
  module: ['saved_model.pb', 'variables/variables.index', 'variables/variables.data-00000-of-00001'],
  keras: ['saved_model.pb', 'variables/variables.index', 'variables/variables.data-00000-of-00001'],
  layers: ['saved_model.pb', 'variables/variables.index', 'variables/variables.data-00000-of-00001'],
  text: [
    'saved_model.pbtxt',
    'assets/words.txt',
    'variables/variables.index',
    'variables/variables.data-00000-of-00001',
  ],
  first: ['saved_model.pb', 'variables/variables.index', 'variables/variables.data-00000-of-00001'],
  checkpoint: ['checkpoint', 'model.ckpt-3.meta', 'model.ckpt-3.index', 'model.ckpt-3.data-00000-of-00001'],
};

/** The files of a model by their paths. */
async function filesOf(model) {
  const entries = FILES[model].map(async (path) => [path, await readBytes(`${ROOT}/${model}/${path}`)]);
  return Object.fromEntries(await Promise.all(entries));
}

const crc32 = (bytes) => {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
};

async function deflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A zip archive. `change` may damage the fields of an entry: { name, size, packedSize, crc, method, flags }. */
async function zipOf(files, { method = 8, change = () => {} } = {}) {
  const parts = [];
  const directory = [];
  let at = 0;
  const push = (list, bytes) => {
    list.push(bytes);
    return bytes.length;
  };
  const fields = (...pairs) => {
    const bytes = new Uint8Array(pairs.reduce((sum, [size]) => sum + size, 0));
    const view = new DataView(bytes.buffer);
    let place = 0;
    for (const [size, value] of pairs) {
      if (size === 2) view.setUint16(place, value, true);
      else view.setUint32(place, value, true);
      place += size;
    }
    return bytes;
  };
  for (const [path, bytes] of Object.entries(files)) {
    const packed = method === 8 ? await deflated(bytes) : bytes;
    const entry = {
      name: path,
      size: bytes.length,
      packedSize: packed.length,
      crc: crc32(bytes),
      method,
      flags: 0,
    };
    change(entry);
    const name = new TextEncoder().encode(entry.name);
    const shared = [
      [2, 20],
      [2, entry.flags],
      [2, entry.method],
      [4, 0],
      [4, entry.crc],
      [4, entry.packedSize],
      [4, entry.size],
      [2, name.length],
      [2, 0],
    ];
    const begin = at;
    at += push(parts, fields([4, 0x04034b50], ...shared)) + push(parts, name) + push(parts, packed);
    push(directory, fields([4, 0x02014b50], [2, 20], ...shared, [2, 0], [2, 0], [2, 0], [4, 0], [4, begin]));
    push(directory, name);
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = Object.keys(files).length;
  const end = fields([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at], [2, 0]);
  return new Uint8Array(await new Blob([...parts, ...directory, end]).arrayBuffer());
}

describe('tf.load', () => {
  let tf;
  let saved;
  before(async () => {
    tf = await engine();
    saved = JSON.parse(await readText(`${ROOT}/saved.json`));
  });

  const tensorOf = ({ dtype, shape, values }) => tf.tensor(values, shape, dtype);
  const tensorsOf = (record) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, tensorOf(value)]));

  /** Makes the recorded calls, in their order. */
  async function checkCalls(model, { calls }) {
    for (const { signature, inputs, outputs } of calls) {
      const results = await model.run(tensorsOf(inputs), signature === null ? {} : { signature });
      assert.deepEqual(Object.keys(results).sort(), Object.keys(outputs).sort());
      for (const [name, { dtype, shape, values }] of Object.entries(outputs)) {
        assert.equal(results[name].dtype, dtype);
        assert.deepEqual(results[name].shape, shape);
        assert.ok(isClose(results[name].data, values, 1e-5), `${name}: ${[...results[name].data]}`);
      }
    }
  }

  async function withModel(source, body, options) {
    const model = await tf.load(source, options);
    try {
      return await body(model);
    } finally {
      await model.close();
    }
  }

  for (const [name, format] of [
    ['module', 'SavedModel'],
    ['keras', 'SavedModel'],
    ['layers', 'SavedModel'],
    ['first', 'SavedModel'],
    ['checkpoint', 'MetaGraphDef'],
  ])
    for (const target of ['', 'worker'])
      it(`computes what TensorFlow computes: ${name}${target && `, in a ${target}`}`, async () =>
        withModel(
          await filesOf(name),
          async (model) => {
            assert.equal(model.format, format);
            if (name !== 'checkpoint') return checkCalls(model, saved[name]);
            const [{ inputs, outputs }] = saved.checkpoint.calls;
            const y = await model.session.run('y', tensorsOf(inputs));
            assert.ok(isClose(y.data, outputs.y.values));
          },
          { session: { target } },
        ));

  for (const target of ['', 'worker'])
    it(`opens SavedModels in text form, with their assets${target && `, in a ${target}`}`, async () =>
      withModel(
        await filesOf('text'),
        async (model) => {
          assert.equal(model.format, 'SavedModel');
          await checkCalls(model, saved.text);
        },
        { session: { target } },
      ));

  it('says where the text of a SavedModel is damaged', async () => {
    const files = await filesOf('text');
    const text = new TextDecoder().decode(files['saved_model.pbtxt']);
    for (const [damaged, message] of [
      [text.slice(0, 900), /is no SavedModel in text form: \d+:\d+: /],
      [`${text}\nnothing: 1`, /is no SavedModel in text form: \d+:\d+: .*no field named "nothing"/],
      ['', /SavedModels of version 0 are not known/],
    ])
      await assert.rejects(
        tf.load({ ...files, 'saved_model.pbtxt': new TextEncoder().encode(damaged) }),
        ({ message: found }) => message.test(found),
      );
  });

  it('trains and saves a model that runs in a worker', async () =>
    withModel(
      await filesOf('first'),
      async (model) => {
        const [{ inputs }] = saved.first.calls;
        const { files } = tf;
        const before = files.list();
        await model.session.run([], { x: tensorsOf(inputs).x }, { targets: ['train'] });
        const expected = (await model.run(tensorsOf(inputs))).y;
        await withModel(await model.save(), async (again) =>
          assert.deepEqual((await again.run(tensorsOf(inputs))).y.array(), expected.array()),
        );
        assert.deepEqual(files.list(), before);
      },
      { session: { target: 'worker' } },
    ));

  it('opens archives, stored and deflated; Files; a folder of a server or of Node', async () => {
    const files = await filesOf('module');
    const inFolder = Object.fromEntries(
      Object.entries(files).map(([path, bytes]) => [`any/name/${path}`, bytes]),
    );
    const file = (path, bytes) =>
      Object.assign(new Blob([bytes]), { name: path.split('/').pop(), webkitRelativePath: path });
    const archive = await zipOf(inFolder);
    const sources = [
      archive,
      archive.slice().buffer,
      await zipOf(files, { method: 0 }),
      new Blob([archive]),
      Object.entries(inFolder).map(([path, bytes]) => file(path, bytes)),
      inFolder,
      isPage ? new URL(`/${ROOT}/module/`, location.href) : new URL(`../../${ROOT}/module`, import.meta.url),
      isPage ? `/${ROOT}/module/saved_model.pb` : new URL(`../../${ROOT}/module`, import.meta.url).pathname,
    ];
    for (const source of sources) await withModel(source, (model) => checkCalls(model, saved.module));
  });

  it('fetches each file of a server once', async () => {
    const served = { 'http://models.test/m/': await filesOf('module') };
    const graph = new tf.Graph();
    graph.square(graph.placeholder('float32', [2], { name: 'x' }), { name: 'y' });
    served['http://models.test/g/'] = { 'graph.pb': graph.toGraphDef() };
    graph.dispose();
    served['http://models.test/z/'] = { 'm.zip': await zipOf(await filesOf('module')) };
    const contents = new Map(
      Object.entries(served).flatMap(([base, files]) =>
        Object.entries(files).map(([path, bytes]) => [base + path, bytes]),
      ),
    );
    const usual = globalThis.fetch;
    const fetched = [];
    globalThis.fetch = async (address) => {
      fetched.push(String(address));
      const bytes = contents.get(String(address));
      const headers = bytes && { 'content-length': String(bytes.length) };
      return bytes ? new Response(bytes, { headers }) : new Response('', { status: 404 });
    };
    try {
      await withModel('http://models.test/m/', (model) => checkCalls(model, saved.module));
      await withModel('http://models.test/z/m.zip', (model) => checkCalls(model, saved.module));
      await withModel('http://models.test/g/graph.pb', async (model) =>
        assert.deepEqual((await model.run({ x: [2, 3] })).y.array(), [4, 9]),
      );
    } finally {
      globalThis.fetch = usual;
    }
    assert.deepEqual(fetched.slice().sort(), [...contents.keys()].sort());
  });

  it('finds the outputs of a graph in which very many nodes read one', async function () {
    this.timeout(60_000);
    const nodes = ['node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'];
    const count = 150_000;
    for (let i = 0; i < count; i++)
      nodes.push(`node { name: "y${i}" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }`);
    await withModel({ 'graph.pbtxt': nodes.join('\n') }, async (model) => {
      assert.equal(model.outputs.length, count);
      assert.equal(model.outputs.at(-1).name, `y${count - 1}`);
    });
  });

  it('describes inputs and outputs by the names of the signature', async () =>
    withModel(await filesOf('module'), async (model) => {
      assert.deepEqual(Object.keys(model.signatures).sort(), ['loss', 'power', 'serving_default']);
      assert.deepEqual(
        model.inputs.map(({ name, dtype, shape }) => [name, dtype, shape]),
        [['x', 'float32', [null, 3]]],
      );
      assert.deepEqual(
        model.outputs.map(({ name }) => name),
        ['calls', 'y'],
      );
      assert.match(String(model), /^Model<SavedModel, signatures/);
      const only = await model.run([[1, 2, 3]], { outputs: ['y'] });
      assert.deepEqual(Object.keys(only), ['y']);
      assert.ok(only.y instanceof Tensor);
    }));

  it('takes the MetaGraph with the tags', async () => {
    const files = await filesOf('first');
    await withModel(files, (model) => assert.deepEqual(Object.keys(model.signatures), ['serving_default']));
    await withModel(files, (model) => assert.deepEqual(Object.keys(model.signatures), ['train']), {
      tags: ['train'],
    });
    await assert.rejects(tf.load(files, { tags: ['serve', 'gpu'] }), {
      name: 'NotFoundError',
      message: /matching supplied tags: \{ serve, gpu \}.*\{ serve \}, \{ train \}/,
    });
  });

  it('knows the variables and which of them are trained', async () => {
    const names = (list) => list.map(({ name }) => name).sort();
    await withModel(await filesOf('module'), async (model) => {
      assert.deepEqual(names(model.variables), ['b', 'calls', 'w']);
      assert.deepEqual(names(model.trainableVariables), saved.module.training.trainable);
    });
    await withModel(await filesOf('first'), async (model) => {
      assert.deepEqual(names(model.trainableVariables), ['b', 'w']);
      const w = model.variables.find(({ name }) => name === 'w');
      assert.ok(w.isReference && w.dtype === 'float32');
      await model.session.run(
        w.assign([
          [1, 1],
          [1, 1],
          [1, 1],
        ]),
      );
      assert.deepEqual((await model.session.run(w.read())).array(), [
        [1, 1],
        [1, 1],
        [1, 1],
      ]);
    });
  });

  it('trains on with a new optimizer, along the losses of TensorFlow', async () =>
    withModel(await filesOf('module'), async (model) => {
      const { inputs, losses, rate, signature, output } = saved.module.training;
      const loss = model.signatures[signature].outputs.find(({ name }) => name === output).output;
      const step = new tf.train.GradientDescentOptimizer(rate).minimize(loss);
      const feeds = model.signatures[signature].inputs.map(({ name, output: x }) => [
        x,
        tensorOf(inputs[name]),
      ]);
      const got = [];
      for (const _ of losses) {
        got.push((await model.run(tensorsOf(inputs), { signature }))[output].data[0]);
        await model.session.run(step, feeds);
      }
      assert.ok(isClose(got, losses, 1e-5), `${got}`);
    }));

  it("trains on with the graph's own optimizer and its restored slots", async () =>
    withModel(await filesOf('checkpoint'), async (model) => {
      const { feed, losses } = saved.checkpoint.continued;
      const got = [];
      for (const _ of losses)
        got.push((await model.session.run('loss', { x: tensorOf(feed) }, { targets: ['train'] })).data[0]);
      assert.ok(isClose(got, losses, 1e-5), `${got} ${losses}`);
    }));

  it('trains reference variables', async () =>
    withModel(await filesOf('first'), async (model) => {
      const { graph, session } = model;
      const loss = graph.mean(graph.square(graph.output('y')), [0, 1]);
      const x = [[1, -1, 2]];
      const optimizers = [
        new tf.train.GradientDescentOptimizer(0.1),
        new tf.train.MomentumOptimizer(0.1, 0.5),
        new tf.train.AdagradOptimizer(0.1),
        new tf.train.AdadeltaOptimizer(1),
        new tf.train.RMSPropOptimizer(0.01),
        new tf.train.AdamOptimizer(0.01),
      ];
      for (const optimizer of optimizers) {
        const step = optimizer.minimize(loss);
        await session.run(graph.initializer(optimizer.variables));
        const first = (await session.run(loss, { x })).data[0];
        for (let i = 0; i < 3; i++) await session.run(step, { x });
        const last = (await session.run(loss, { x })).data[0];
        assert.ok(last < first, `${optimizer.name}: ${first} ${last}`);
      }
    }));

  it('feeds assets to the operation that initialises a model of TensorFlow 1, and keeps them', async () => {
    const folder = 'tests/data/models/saved_models/main_op';
    const names = ['saved_model.pb', 'assets/words.txt', ...FILES.module.slice(1)];
    const files = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readBytes(`${folder}/${name}`)])),
    );
    const check = async (model) => {
      assert.deepEqual((await model.run({ x: [1, 2] })).y.array(), [13, 15]); // 2 x + 1, and 10 of the operation
      assert.match((await model.session.run('path')).item(), /assets\/words\.txt$/);
    };
    await withModel(files, async (model) => {
      await check(model);
      const saved = await model.save();
      assert.deepEqual(saved['assets/words.txt'], files['assets/words.txt']);
      await withModel(saved, check);
    });
  });

  describe('graph models of TensorFlow.js', () => {
    const float = { type: 'DT_FLOAT' };
    const constant = (name, dtype, ...sizes) => ({
      name,
      op: 'Const',
      attr: {
        dtype: { type: dtype },
        value: { tensor: { dtype, tensorShape: { dim: sizes.map((size) => ({ size: String(size) })) } } },
      },
    });
    const text = (...words) => words.map((word) => btoa(word));
    const sizes = [{ size: '-1' }, { size: '2' }];
    /** y = relu(x w + b), and the place of the largest. */
    const node = [
      { name: 'x', op: 'Placeholder', attr: { dtype: float, shape: { shape: { dim: sizes } } } },
      constant('w', 'DT_FLOAT', 2, 2),
      constant('b', 'DT_FLOAT', 2),
      constant('axis', 'DT_INT64'),
      {
        name: 'y',
        op: '_FusedMatMul',
        input: ['x', 'w', 'b'],
        attr: { T: float, num_args: { i: '1' }, fused_ops: { list: { s: text('BiasAdd', 'Relu') } } },
      },
      {
        name: 'best',
        op: 'ArgMax',
        input: ['y', 'axis'],
        attr: { T: float, Tidx: { type: 'DT_INT64' }, output_type: { type: 'DT_INT64' } },
      },
    ];
    const weights = [
      { name: 'w', shape: [2, 2], dtype: 'float32', quantization: { dtype: 'uint8', scale: 0.5, min: -1 } },
      { name: 'b', shape: [2], dtype: 'float32', quantization: { dtype: 'float16' } },
      { name: 'axis', shape: [], dtype: 'int32' },
    ];
    const signature = {
      inputs: { input: { name: 'x:0', dtype: 'DT_FLOAT', tensorShape: { dim: sizes } } },
      outputs: { result: { name: 'y:0', dtype: 'DT_FLOAT' }, best: { name: 'best:0', dtype: 'DT_INT64' } },
    };
    /* w = [[-1, 0], [1, 2]]; b = [0.5, -5] in float16; axis = 1 */
    const bytes = Uint8Array.of(0, 2, 4, 6, 0x00, 0x38, 0x00, 0xc5, 1, 0, 0, 0);
    const model = (changes = {}) => ({
      'model.json': JSON.stringify({
        format: 'graph-model',
        modelTopology: { node, versions: { producer: 27 } },
        signature,
        weightsManifest: [{ paths: ['shards/one.bin', 'shards/two.bin'], weights }],
        ...changes,
      }),
      'shards/one.bin': bytes.slice(0, 5),
      'shards/two.bin': bytes.slice(5),
    });

    it('open with their shards, quantized weights and 64-bit constants', () =>
      withModel(model(), async (opened) => {
        assert.equal(opened.format, 'TensorFlow.js graph model');
        const { result, best } = await opened.run({
          input: [
            [1, 2],
            [0, 4],
          ],
        });
        assert.deepEqual(result.array(), [
          [1.5, 0],
          [4.5, 3],
        ]);
        assert.deepEqual([...best.data], [0n, 0n]);
      }));

    it('have inputs without a signature, and with one that names only outputs', async () => {
      for (const changes of [{ signature: undefined }, { signature: { outputs: signature.outputs } }])
        await withModel(model(changes), async (opened) => {
          const results = await opened.run({ x: [[1, 2]] });
          assert.deepEqual(
            Object.values(results)
              .find(({ dtype }) => dtype === 'int64')
              .array(),
            [0n],
          );
        });
    });

    it('are refused when shards or descriptions are wrong', async () => {
      const refused = (files, message) => assert.rejects(tf.load(files), { message });
      const changed = (change) =>
        model({ weightsManifest: [{ paths: ['shards/one.bin'], weights: change }] });
      await refused(
        { ...model(), 'shards/two.bin': bytes.slice(6) },
        /weight axis needs 4 bytes, but .* only 3 more/,
      );
      await refused({ ...model(), 'shards/two.bin': bytes }, /5 bytes more than their weights/);
      await refused({ 'model.json': model()['model.json'] }, /no file shards\/(one|two)\.bin/);
      await refused(changed([{ name: 'w', shape: [-1], dtype: 'float32' }]), /weight w has no valid shape/);
      await refused(changed([{ name: 'w', shape: [2 ** 40, 2 ** 40], dtype: 'float32' }]), /no valid shape/);
      await refused(changed([{ name: 'w', shape: [2], dtype: 'floaty' }]), /no name and dtype/);
      await refused(
        changed([{ name: 'w', shape: [2], dtype: 'float32', quantization: { dtype: 'int3' } }]),
        /quantized to "int3"/,
      );
      await refused(model({ weightsManifest: [{ paths: ['../secret.bin'], weights }] }), /leads outside/);
      await refused(model({ modelTopology: { node: [{ name: 5 }] } }), /where a text belongs/);
      await refused({ 'model.json': '{"format": "graph-model",' }, /is damaged/);
      let func = { name: 'f' };
      for (let i = 0; i < 500; i++) func = { name: 'f', attr: { a: { func } } };
      await refused(
        model({ modelTopology: { node: [{ name: 'n', op: 'NoOp', attr: { f: { func } } }] } }),
        /nested too deeply/,
      );
    });
  });

  describe('save', () => {
    for (const name of Object.keys(FILES))
      it(`writes a SavedModel that computes the same: ${name}`, async () =>
        withModel(await filesOf(name), async (model) => {
          const files = await model.save();
          const names = [
            ...FILES[name].filter((path) => path.startsWith('assets/')),
            'saved_model.pb',
            'variables/variables.data-00000-of-00001',
            'variables/variables.index',
          ];
          assert.deepEqual(Object.keys(files).sort(), names);
          assert.deepEqual(tf.files.list('ram://'), []);
          await withModel(files, async (again) => {
            const described = (list) => list.map((variable) => [variable.name, variable.trainable]).sort();
            assert.deepEqual(described(again.variables), described(model.variables));
            if (name !== 'checkpoint') await checkCalls(again, saved[name]);
            await withModel(await again.save(), (third) => third.close());
          });
        }));

    it('keeps what training needs: going on gives the losses of training without a stop', async () => {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const x = graph.placeholder('float32', [null, 3], { name: 'x' });
      const w = graph.variable([[1], [2], [-1]], { name: 'w' });
      const y = graph.matMul(x, w, { name: 'y' });
      const loss = graph.mean(graph.square(graph.sub(y, 1)), [0, 1], { name: 'loss' });
      const count = graph.variable(0, { name: 'count', dtype: 'int64', trainable: false });
      new tf.train.AdamOptimizer(0.1).minimize(loss, { name: 'train', globalStep: count });
      await session.run(graph.initializer());
      const feeds = {
        x: [
          [1, 2, 3],
          [0, 1, -1],
        ],
      };
      const train = async (on, steps) => {
        const losses = [];
        for (let i = 0; i < steps; i++)
          losses.push((await on.run('loss', feeds, { targets: ['train'] })).data[0]);
        return losses;
      };
      await train(session, 5);
      const model = tf.model({ session, signatures: { inputs: { x }, outputs: { y } } });
      const [files, checkpoint] = [await model.save(), await model.save({ format: 'checkpoint' })];
      const expected = await train(session, 5);
      for (const source of [files, checkpoint])
        await withModel(source, async (again) => {
          assert.deepEqual(await train(again.session, 5), expected);
          assert.deepEqual(
            again.trainableVariables.map(({ name }) => name),
            ['w'],
          );
          assert.equal((await again.session.run('count/Read')).data[0], 10n);
        });
      await withModel(files, async (again) => assert.deepEqual(Object.keys(await again.run(feeds)), ['y']));
      await model.close();
    });

    it('freezes', async () =>
      withModel(await filesOf('first'), async (model) => {
        const files = await model.save({ format: 'GraphDef' });
        await withModel(files, async (frozen) => {
          assert.equal(frozen.format, 'GraphDef');
          assert.equal(frozen.variables.length, 0);
          const [{ inputs, outputs }] = saved.first.calls;
          assert.ok(isClose((await frozen.run(tensorsOf(inputs))).y.data, outputs.y.values));
        });
      }));

    for (const [name, signature] of [
      ['keras', undefined],
      ['layers', undefined],
      ['module', 'power'],
    ])
      it(`freezes variables that functions read: ${name}`, async () =>
        withModel(await filesOf(name), async (model) => {
          const wanted = saved[name].calls.filter((call) => (call.signature ?? undefined) === signature);
          const { inputs: places, outputs } = Object.values(model.signatures).find(
            (one) => one.name === (signature ?? 'serving_default'),
          );
          const bytes = await tf.freeze(
            model.session,
            outputs.map(({ output }) => output),
          );
          const graph = new tf.Graph();
          graph.importGraphDef(bytes);
          assert.equal(graph.allVariables.length, 0);
          assert.doesNotMatch(graph.toText(), /op: "ReadVariableOp"|DT_RESOURCE/);
          const session = new tf.Session(graph);
          for (const call of wanted) {
            const feeds = Object.entries(tensorsOf(call.inputs)).map(([key, value]) => [
              places.find((place) => place.name === key).output.name,
              value,
            ]);
            for (const { name: key, output } of outputs) {
              const found = await session.run(output.name, feeds);
              assert.deepEqual(found.shape, call.outputs[key].shape);
              assert.ok(isClose(found.data, call.outputs[key].values, 1e-5), key);
            }
          }
          await session.close();
          graph.dispose();
        }));

    it('refuses to freeze what functions change', async () =>
      withModel(await filesOf('module'), (model) =>
        assert.rejects(model.save({ format: 'GraphDef' }), {
          code: 'FAILED_PRECONDITION',
          message: /AssignAddVariableOp.* does more with variable 'calls' than read it/,
        }),
      ));

    it('says what cannot be saved', async () =>
      withModel(await filesOf('first'), async (model) => {
        await assert.rejects(model.save({ format: 'tflite' }), {
          message: /'SavedModel', 'checkpoint' or 'GraphDef'/,
        });
        await assert.rejects(model.save(5), { message: /folder of a model must be a string/ });
        model.graph.variable(1, { name: 'new' });
        await assert.rejects(model.save(), { name: 'FailedPreconditionError', message: /variable new/ });
      }));
  });

  describe('option trainable', () => {
    /** y = tanh(x w + b), frozen and not, with the same training. */
    async function withFrozen(body) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const x = graph.placeholder('float32', [null, 2], { name: 'x' });
      const w = graph.variable(
        [
          [1, 2],
          [-1, 0.5],
        ],
        { name: 'w' },
      );
      const b = graph.variable([0.5, -0.5], { name: 'b' });
      const y = graph.tanh(graph.add(graph.matMul(x, w), b), { name: 'y' });
      await session.run(graph.initializer());
      const frozen = await tf.freeze(session, [y]);
      try {
        await body({ graph, session, frozen });
      } finally {
        await session.close();
        graph.dispose();
      }
    }

    async function losses(graph, session, steps = 5) {
      const loss = graph.mean(graph.square(graph.sub(graph.output('y'), 0.25)), [0, 1]);
      const step = new tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss);
      const slots = graph.allVariables.filter(({ trainable }) => !trainable);
      await session.run(slots.map(({ initializer }) => initializer));
      const got = [];
      for (let i = 0; i < steps; i++) {
        const x = [
          [1, 2],
          [0, -1],
        ];
        got.push((await session.run(loss, { x })).data[0]);
        await session.run(step, { x });
      }
      return got;
    }

    it('makes the weights of a frozen graph variables, which train like the originals', () =>
      withFrozen(async ({ graph, session, frozen }) => {
        const expected = await losses(graph, session);
        await withModel(
          frozen,
          async (model) => {
            assert.deepEqual(model.trainableVariables.map(({ name }) => name).sort(), [
              'b/Read/variable',
              'w/Read/variable',
            ]);
            assert.deepEqual(await losses(model.graph, model.session), expected);
            const again = await tf.freeze(model.session, ['y']);
            await withModel(again, async (refrozen) => {
              const x = [[1, 2]];
              assert.deepEqual(
                (await refrozen.run({ x })).y.array(),
                (await model.session.run('y', { x })).array(),
              );
            });
          },
          { trainable: true },
        );
      }));

    it('takes the names of some constants, and refuses others', () =>
      withFrozen(async ({ frozen }) => {
        await withModel(
          frozen,
          (model) =>
            assert.deepEqual(
              model.trainableVariables.map(({ name }) => name),
              ['w/Read/variable'],
            ),
          { trainable: ['w/Read'] },
        );
        const refused = (trainable, error) => assert.rejects(tf.load(frozen, { trainable }), error);
        await refused(['w'], { name: 'NotFoundError', message: /no node 'w'/ });
        await refused(['y'], { name: 'InvalidArgumentError', message: /'y' \(Tanh\) is no constant/ });
        await refused('w/Read', { message: /'trainable'/ });
        await refused(false, { message: /'trainable'/ });
      }));
  });

  describe('tf.train.Saver', () => {
    it('saves and restores, by path and step', async () => {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const [a, b] = [graph.variable([1, 2], { name: 'a' }), graph.variable(3, { name: 'b' })];
      const saver = new tf.train.Saver(graph);
      const only = new tf.train.Saver(graph, { vars: [b] });
      await session.run(graph.initializer());
      const path = await saver.save(session, 'folder/model.ckpt', { globalStep: 7 });
      assert.equal(path, 'folder/model.ckpt-7');
      await session.run([a.assign([5, 6]), b.assign(7)]);
      await only.restore(session, path);
      assert.deepEqual(
        (await session.run([a, b])).map((value) => value.array()),
        [[5, 6], 3],
      );
      await saver.restore(session, path);
      assert.deepEqual((await session.run(a)).array(), [1, 2]);
      await assert.rejects(saver.restore(session, 'folder/none'), { name: 'NotFoundError' });
      const empty = new tf.Graph();
      assert.throws(() => new tf.train.Saver(empty), { message: 'No variables to save' });
      empty.dispose();
      for (const file of tf.files.list('folder/')) tf.files.remove(file);
      await session.close();
      graph.dispose();
    });
  });

  it('says what is wrong with inputs', async () =>
    withModel(await filesOf('module'), async (model) => {
      await assert.rejects(model.run({}), {
        message: /'serving_default' needs a value for x \(float32 \[\?, 3\]\)/,
      });
      await assert.rejects(model.run({ xx: 1 }), { message: /no input 'xx'; did you mean 'x'/ });
      await assert.rejects(model.run(1, { signature: 'loss' }), {
        message: /takes its inputs by name, \{ t, x \}/,
      });
      await assert.rejects(model.run({}, { signature: 'lost' }), {
        name: 'NotFoundError',
        message: /did you mean 'loss'/,
      });
      await assert.rejects(model.run({ x: [[1, 2, 3]] }, { outputs: ['z'] }), { message: /no output 'z'/ });
    }));

  it('reports progress, and stops when it is aborted', async () => {
    const files = await filesOf('keras');
    const size = Object.values(files).reduce((sum, { length }) => sum + length, 0);
    const seen = [];
    await withModel(files, () => {}, { onProgress: (loaded, total) => seen.push([loaded, total]) });
    assert.deepEqual(seen.at(-1), [size, size]);
    assert.ok(seen.every(([loaded], i) => i === 0 || loaded > seen[i - 1][0]));
    const controller = new AbortController();
    const aborted = tf.load(files, { signal: controller.signal, onProgress: () => controller.abort() });
    await assert.rejects(aborted, { name: 'AbortError' });
  });

  describe('with damaged or hostile files', () => {
    let files;
    before(async () => (files = await filesOf('module')));
    const without = (path) => Object.fromEntries(Object.entries(files).filter(([name]) => name !== path));

    /** Nothing stays behind. */
    async function refuses(source, error, options) {
      const before = tf.memory();
      await assert.rejects(async () => tf.load(await source, options), error);
      const after = tf.memory();
      assert.deepEqual(
        [after.graphs, after.sessions, after.tensors],
        [before.graphs, before.sessions, before.tensors],
      );
      assert.deepEqual(tf.files.list('ram://'), []);
    }

    it('names the file that is missing', async () => {
      await refuses(without('variables/variables.data-00000-of-00001'), {
        name: 'NotFoundError',
        message: /variables\.data-00000-of-00001, which the model needs/,
      });
      await refuses(
        { 'a.txt': 'text', 'b.bin': new Uint8Array(4) },
        { message: /has no model: its files are a\.txt, b\.bin/ },
      );
      await refuses({}, { message: /at least one file/ });
    });

    it('refuses variables that are cut off or belong to another model', async () => {
      const data = 'variables/variables.data-00000-of-00001';
      await refuses(
        { ...files, [data]: files[data].slice(0, 20) },
        { name: /OutOfRangeError|DataLossError/ },
      );
      const changed = files[data].slice();
      changed[changed.length - 1] ^= 1;
      await refuses({ ...files, [data]: changed }, { name: 'DataLossError' });
      const other = await filesOf('keras');
      await refuses({ ...other, 'saved_model.pb': files['saved_model.pb'] }, { name: 'NotFoundError' });
    });

    it('refuses every truncated saved_model.pb', async () => {
      const whole = files['saved_model.pb'];
      for (let i = 1; i < 40; i++) {
        const length = Math.floor((whole.length * i) / 40);
        await refuses({ ...files, 'saved_model.pb': whole.slice(0, length) }, Error);
      }
    });

    it('refuses archives that lie', async () => {
      const one = { 'saved_model.pb': files['saved_model.pb'] };
      const lies = [
        [{ change: (entry) => (entry.name = '../saved_model.pb') }, /leads outside/],
        [{ change: (entry) => (entry.name = '/etc/saved_model.pb') }, /leads outside/],
        [{ change: (entry) => (entry.size = 2 ** 31) }, /cannot have 2147483648 bytes/],
        [{ change: (entry) => (entry.size += 1) }, /another size/],
        [{ change: (entry) => (entry.size -= 1) }, /another size/],
        [{ change: (entry) => (entry.crc ^= 1) }, /another checksum/],
        [{ change: (entry) => (entry.packedSize = 2 ** 30) }, /cannot have/],
        [{ change: (entry) => (entry.flags = 1) }, /encrypted/],
        [{ change: (entry) => (entry.method = 12) }, /method 12/],
      ];
      for (const [options, message] of lies) await refuses(zipOf(one, options), { message });
      const archive = await zipOf(files);
      for (let cut = 1; cut < archive.length; cut += Math.ceil(archive.length / 60))
        await refuses(archive.slice(0, cut), Error);
    });

    it('refuses a zip bomb before it is unpacked', async () => {
      const zeros = new Uint8Array(4 << 20);
      const bomb = await zipOf({ 'saved_model.pb': zeros }, { change: (entry) => (entry.size *= 1000) });
      await refuses(bomb, { message: /cannot have|unpacks to more/ });
    });

    it('names formats that it does not open', async () => {
      const onnx = Uint8Array.of(8, 9, 58, 7, 18, 5, 103, 114, 97, 112, 104, 66, 2, 16, 17);
      await refuses(onnx, { message: /ONNX model.*convert it to TensorFlow/ });
      await refuses({ 'model.onnx': onnx }, { message: /model\.onnx.*ONNX/ });
      await refuses(Uint8Array.of(0x1c, 0, 0, 0, 0x54, 0x46, 0x4c, 0x33, 0, 0), {
        message: /TensorFlow Lite/,
      });
      await refuses('<html></html>', { name: 'NotFoundError' });
      await refuses(42, { message: /load takes an address, a path, bytes, or Files, not 42/ });
    });
  });
});
