import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { digitBatches } from '../../bench/digits.mjs';
import { mostLiveBytes } from '../../bench/live-values.mjs';
import { compare, median, relativeDifference } from '../../bench/measure.mjs';
import { modelsTable, opsTable } from '../../bench/models-table.mjs';
import { multiplyAddsOf, weightBytesOf } from '../../bench/multiply-adds.mjs';
import { timesByOp } from '../../bench/op-times.mjs';
import { tableOf, verdict } from '../../bench/table.mjs';
import { moveAxes } from '../../bench/training-onnx.mjs';
import { vectorLoops } from '../../bench/vector-loops.mjs';

describe('the benchmark', () => {
  it('prints the times of further peers below the table', () => {
    const others = [{ name: 'LiteRT.js', time: 310, ratio: 10 }];
    const row = { name: 'first result', group: 'start', ours: 31, peer: 62, ratio: 2, others };
    const text = tableOf({ host: 'Node', variant: 'simd', limit: 1, cases: [row] });
    assert.match(text, /first result, LiteRT\.js: 310 ms, 10\.00 x of our time/);
  });

  it('takes the middle of the rounds', () => {
    assert.equal(median([9, 1, 5]), 5);
    assert.equal(median([4, 1, 3, 100]), 3.5);
  });

  it('measures differences against the largest number, and takes no NaN for equal', () => {
    assert.equal(relativeDifference([1, 2], [1, 2]), 0);
    assert.equal(relativeDifference([0, 3.5], [0, 4]), 0.125);
    assert.equal(relativeDifference([1], [1, 2]), Infinity);
    assert.ok(!(relativeDifference([NaN, 2], [1, 2]) < 1));
    assert.ok(!(relativeDifference([1, 2], [NaN, 2]) < 1));
  });

  it('lets the contestants take turns in going first, and waits for promises', async () => {
    const started = [];
    let running = 0;
    const contestant = (name) => async () => {
      assert.equal(running++, 0, 'one at a time');
      if (started.at(-1) !== name) started.push(name);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
    };
    const rounds = [];
    const times = await compare(
      { ours: contestant('ours'), peer: contestant('peer') },
      { warmUp: 1, roundTime: 1, rounds: 3, beforeRound: () => rounds.push(started.length) },
    );
    assert.deepEqual([times.ours.length, times.peer.length, rounds.length], [3, 3, 3]);
    assert.ok([...times.ours, ...times.peer].every((time) => time >= 1));
    // After the warm-ups (ours, peer): ours, peer | peer, ours | ours, peer.
    assert.deepEqual(started, ['ours', 'peer', 'ours', 'peer', 'ours', 'peer']);
  });

  it('adds up the values that are live while a node runs', () => {
    const record = (node, label, ...sizes) => ({
      node,
      label: `${node} = ${label}`,
      outputs: sizes.map((size) => ({ dtype: 'float32', shape: [size] })),
    });
    const records = [
      record('w/Read', 'ReadVariableOp(w)', 1000),
      record('a', 'MatMul(x, w/Read)', 10),
      record('b', 'Reshape(a, shape)', 10), // a view of a
      { ...record('c', 'Split[n=2](b, ^a)', 100, 7), label: '[cpu 1.0MB 1.0MB] c = Split[n=2](b, ^a)' },
      record('d', 'Relu(c:1)', 3), // c:0 has no reader
      record('e', 'Add(d, b)', 1),
    ];
    // While c runs: a, which is b, and both outputs of c.
    assert.equal(mostLiveBytes(records, 8), 8 + 4 * (10 + 100 + 7));
    assert.equal(mostLiveBytes(records.slice(4), 0), 4 * (3 + 1));
  });

  it('moves the axes of weights', () => {
    const data = Float32Array.from({ length: 6 }, (_, i) => i);
    const moved = moveAxes({ data, shape: [1, 2, 3] }, [2, 0, 1]);
    assert.deepEqual(
      [moved.shape, [...moved.data]],
      [
        [3, 1, 2],
        [0, 3, 1, 4, 2, 5],
      ],
    );
  });

  it('prepares every unit of work that wants it, and times only the work', async () => {
    const calls = [];
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    const work = {
      prepare: async () => (calls.push('prepare'), pause(30)),
      run: () => void calls.push('run'),
      close() {},
    };
    const { ours } = await compare({ ours: work }, { warmUp: 1, roundTime: 1, rounds: 2 });
    assert.ok(
      calls.length >= 8 && calls.every((call, i) => call === (i % 2 ? 'run' : 'prepare')),
      calls.join(),
    );
    assert.ok(
      ours.every((time) => time < 15),
      `${ours} ms`,
    );
  });

  it('shows what is below the bar and what failed', () => {
    const product = { group: 'matmul', flops: 2e6, limit: 40, peer: 0.13 };
    const result = (variant) => ({
      host: 'Here',
      variant,
      limit: 41,
      cases: [
        { ...product, name: 'small', size: 128, ours: 0.2, ratio: 0.65 },
        { ...product, name: 'slow', size: 256, ours: 0.1, ratio: 1.2 },
        { ...product, name: 'fast', size: 512, ours: 0.05, ratio: 2.6 },
        { name: 'broken', group: 'matmul', size: 1024, error: 'Error: no' },
        { name: 'alone', group: 'graph', nodes: 100_000, ours: 50 },
      ],
    });
    const rowOf = (name) =>
      tableOf(result('relaxed'))
        .split('\n')
        .find((line) => line.startsWith(name));
    assert.match(rowOf('slow'), /^slow +0\.100 +20\.0 GFLOP\/s +50 % +0\.130 +15\.4 GFLOP\/s +1\.20 x !$/);
    assert.match(rowOf('small'), /0\.65 x$/, 'no bar for small products');
    assert.match(rowOf('fast'), /2\.60 x$/);
    assert.match(rowOf('alone'), /^alone +50\.0 +2\.00 Mnode\/s$/, 'work that the peer cannot do');
    assert.match(tableOf(result('simd')), /broken: Error: no/);
    assert.equal(
      verdict([result('relaxed')]),
      'relaxed: at least 1.3 x tfjs on MatMul from 256 on, Here: missed by slow (1.20); broken (failed)',
    );
    assert.equal(
      verdict([result('simd')]),
      'simd: at least 1.0 x tfjs on MatMul from 256 on, Here: missed by broken (failed)',
    );
  });

  it('compares whole models with the fastest peer, round by round, and says why one is missing', () => {
    const result = (times, errors = {}) => ({
      times,
      medians: Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)])),
      errors,
      told: Object.keys(errors).length > 0 ? ['ERROR: no memory'] : [],
    });
    const small = {
      ...result({ ours: [1, 2, 4], fast: [2, 4, 8], slow: [8, 16, 32] }),
      multiplyAdds: 2e7,
      peak: 50, // GFLOP/s
      weightBytes: 1e7,
      reading: 10, // GB/s
      copying: 0.25,
    };
    const large = result({ ours: [100, 100, 100], slow: [50, 50, 50] }, { fast: 'it cannot' });
    const rows = [
      { name: 'small', results: { 1: small, 2: small } },
      { name: 'large', results: { 1: large, 2: large } },
    ];
    const lines = modelsTable(rows, { names: ['ours', 'fast', 'slow'], threads: [1, 2], rounds: 3 }).split(
      '\n',
    );
    assert.match(
      lines[3],
      /^small +2\.00, 2\.00 +4\.00, 4\.00 +16\.0, 16\.0 +2\.00, 2\.00 +0\.800, 0\.400 +1\.25, 0\.750$/,
    );
    assert.match(lines[4], /^large +100, 100 +-, - +50\.0, 50\.0 +0\.50, 0\.50 +-, - +-, -$/);
    assert.match(lines[5], /peer \/ ours +2\.00, 2\.00 +2\.00, 2\.00 +1\.00, 1\.00 *$/, 'geometric means');
    assert.match(lines[7], /^At the peak: /);
    assert.match(lines[8], /^The limit: /);
    assert.deepEqual(lines.slice(9), ['large, fast: it cannot', 'large, ERROR: no memory']);
  });

  it('adds up the nodes of each op, without what interrupted some of their steps', () => {
    const record = (node, op, duration) => ({ node, op, duration });
    const step = (slow) => [record('a', 'Add', 1000), record('m', 'Mul', slow), record('m', 'Mul', 500)];
    const times = timesByOp([step(500), step(500), step(90_000)]);
    assert.deepEqual(times[0], { op: 'Mul', count: 2, time: (0.5 + 0.5 + 0.76) / 3 + 0.5 });
    assert.deepEqual(times[1], { op: 'Add', count: 1, time: 1 });
    assert.match(
      opsTable('Model', times),
      /^Model: 2\.087 ms\n {2}Mul +2 +1\.087 ms +52\.1 %\n {2}Add +1 +1\.000 ms +47\.9 %\n$/,
    );
  });

  it('counts the multiply-adds of products and convolutions', () => {
    const nodes = {
      product: {
        op: 'MatMul',
        inputs: [
          [3, 4],
          [5, 4],
        ],
        attrs: { transpose_b: true },
        output: [3, 5],
      },
      wide: {
        op: 'Conv2D',
        inputs: [
          [1, 8, 8, 3],
          [3, 3, 3, 4],
        ],
        attrs: {},
        output: [1, 6, 6, 4],
      },
      back: {
        op: 'Conv2DBackpropInput',
        inputs: [[4], [5, 5, 2, 7], [1, 3, 3, 7]],
        attrs: {},
        output: [1, 6, 6, 2],
      },
      sum: { op: 'AddV2', inputs: [[3], [3]], attrs: {}, output: [3] },
    };
    const graph = {
      operation: (name) => ({
        inputs: nodes[name].inputs.map((shape, i) => ({ name: `${name}/${i}:0`, shape })),
        attrs: () => nodes[name].attrs,
      }),
    };
    const countOf = (...names) =>
      multiplyAddsOf(
        graph,
        names.map((node) => ({ node, op: nodes[node].op, outputs: [{ shape: nodes[node].output }] })),
      );
    assert.equal(countOf('product'), 3 * 4 * 5);
    assert.equal(countOf('wide'), 6 * 6 * 4 * (3 * 3 * 3));
    assert.equal(countOf('back'), 3 * 3 * 7 * (5 * 5 * 2));
    assert.equal(countOf('product', 'sum', 'wide'), 60 + 3888);
  });

  it('adds up the weights of products, each once', () => {
    const operations = {
      w: { name: 'w', type: 'Const', inputs: [] },
      'w/read': { name: 'w/read', type: 'Identity', inputs: [{ name: 'w:0', shape: [4, 5] }] },
      x: { name: 'x', type: 'Placeholder', inputs: [] },
      first: { inputs: ['x:0', 'w/read:0'].map((name) => ({ name, shape: [4, 5] })) },
      second: { inputs: ['first:0', 'w:0'].map((name) => ({ name, shape: [4, 5] })) },
      sum: { inputs: [{ name: 'w:0', shape: [4, 5] }] },
    };
    const graph = { operation: (name) => operations[name] };
    const bytesOf = (...records) => weightBytesOf(graph, records);
    assert.equal(bytesOf({ node: 'first', op: 'MatMul' }, { node: 'second', op: 'MatMul' }), 4 * 20);
    assert.equal(bytesOf({ node: 'sum', op: 'AddN' }), 0);
    assert.equal(bytesOf({ node: 'inside/a/function', op: 'Conv2D' }), 0);
  });

  it('reads the digits in whole minibatches', async () => {
    const line = (i) =>
      [...Array.from({ length: 64 }, (_, pixel) => (pixel === i % 64 ? 16 : 0)), i % 10].join(',');
    const batches = await digitBatches(gzipSync(Array.from({ length: 130 }, (_, i) => line(i)).join('\n')));
    assert.equal(batches.length, 2);
    const { pixels, labels, oneHot } = batches[1];
    assert.deepEqual([pixels.length, labels.length, oneHot.length], [4096, 64, 640]);
    assert.equal(pixels[3 * 64 + 3], 1);
    assert.equal(
      pixels.reduce((sum, pixel) => sum + pixel),
      64,
    );
    assert.equal(labels[3], 7);
    assert.equal(oneHot.indexOf(1, 30), 37);
  });

  it('finds values that inner loops keep in memory, but not what slow paths save', () => {
    const code = `
name: _ZL7sum_f32Pf.__uniq.12
0x7f00     0  c5f857c0     vxorps xmm0,xmm0,xmm0
0x7f04     4  c5f81045a0   vmovups xmm1,[rbp-0x60]
0x7f09     9  c4c219b8fa   vfmadd231ps xmm1,xmm2,xmm3
0x7f0e     e  c5f81145a0   vmovups [rbp-0x60],xmm1
0x7f13    13  83e801       subl rax,0x1
0x7f16    16  77ec         ja 0x7f04  <+0x4>
0x7f18    18  c3           retl
0x7f19    19  c5f81145b0   vmovups [rbp-0x50],xmm0
0x7f1e    1e  e8fbffffff   call 0x7f70
0x7f23    23  ebe4         jmp 0x7f09  <+0x9>
`;
    const loop = { name: '_ZL7sum_f32Pf', stores: 1, loads: 1, multiplyAdds: 1, vectors: 3, length: 5 };
    assert.deepEqual(vectorLoops(code), [loop]);
    assert.deepEqual(vectorLoops(code.replaceAll('xmm', 'r')), []);
  });
});
