// The command line, as a user calls it: every test starts a process.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { engine } from './engine.mjs';

const program = fileURLToPath(new URL('../../npm/dist/cli.js', import.meta.url));

/** A .npy file as NumPy writes it: version 1.0, the header padded to 64 bytes. */
function npy(descr, shape, data, { fortran = false } = {}) {
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': (${shape.map((size) => `${size},`).join(' ')}), }`;
  const header = Buffer.from(`${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`);
  return Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
    Buffer.from([header.length & 255, header.length >> 8]),
    header,
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  ]);
}

/** The header's text and the elements' bytes. */
function readNpy(file) {
  const bytes = readFileSync(file);
  assert.equal(bytes.subarray(0, 8).toString('latin1'), '\x93NUMPY\x01\x00');
  const start = 10 + bytes.readUInt16LE(8);
  assert.equal(start % 64, 0);
  return { header: bytes.subarray(10, start).toString().trimEnd(), data: bytes.subarray(start) };
}

describe('command line', function () {
  this.timeout(60_000);
  let folder;
  const at = (name) => path.join(folder, name);
  const call = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      encoding: 'utf8',
      cwd: folder,
    });
    return { status, stdout, stderr };
  };
  const good = (...args) => {
    const { status, stdout, stderr } = call(...args);
    assert.deepEqual([status, stderr], [0, ''], stderr);
    return stdout;
  };
  const bad = (message, status, ...args) => {
    const result = call(...args);
    assert.match(result.stderr, message);
    assert.deepEqual(
      [result.status, result.stdout, result.stderr.startsWith('tfcore-wasm: ')],
      [status, '', true],
      result.stderr,
    );
    assert.doesNotMatch(result.stderr, /\n {4}at /); // no stack
  };

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'tfcore-cli-'));
    const tf = await engine();
    const g = new tf.Graph();
    const x = g.placeholder('float32', [null, 2], { name: 'x' });
    const w = g.constant(
      [
        [2, 0, 1],
        [0, 3, 1],
      ],
      { name: 'w' },
    );
    const y = g.matMul(x, w, { name: 'y' });
    g.sum(g.square(y), [0, 1], { name: 'loss' });
    g.op('Identity', [g.placeholder('string', [2], { name: 'words' })], { name: 'said' });
    g.op('Neg', [g.placeholder('bfloat16', null, { name: 'b' })], { name: 'scope/minus' });
    g.op('Conj', [g.placeholder('complex64', [], { name: 'c' })], { name: 'conjugate' });
    g.op('Identity', [g.placeholder('int64', [null, null], { name: 'i' })], { name: 'same' });
    writeFileSync(at('model.pb'), g.toGraphDef());
    writeFileSync(at('model.pbtxt'), g.toText());
    g.dispose();
    writeFileSync(
      at('spare.pbtxt'),
      'node { name: "a" op: "NoOp" } library { function { signature { name: "Spare" } node_def { name: "t" op: "NotHere" } } }',
    );
    writeFileSync(
      at('lacking.pbtxt'),
      `
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_INT8 } } attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } } }
      node { name: "a" op: "NoSuchOp" input: "x" } node { name: "b" op: "NoSuchOp" input: "a" }
      node { name: "m" op: "MatMul" input: "x" input: "x" attr { key: "T" value { type: DT_INT8 } } }
      node { name: "f" op: "Mine" input: "m" }
      node { name: "p" op: "PartitionedCall" attr { key: "f" value { func { name: "Nowhere" } } } attr { key: "Tin" value { list { } } } attr { key: "Tout" value { list { } } } }
      library { function { signature { name: "Mine" } node_def { name: "t" op: "NotHere" } } } versions { producer: 27 }`,
    );
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('explains itself', () => {
    assert.match(
      good('--help'),
      /inspect model\.pb .*\n.*run model\.pb .*\n.*grad model\.pb .*\n.*ops \[Name\] /,
    );
    assert.match(good('--version'), /^\d+\.\d+\.\d+\n$/);
    assert.equal(call().status, 2);
    for (const command of ['inspect', 'run', 'grad', 'ops']) {
      const text = good(command, '--help');
      assert.match(text, new RegExp(`\n\n  tfcore-wasm ${command} `));
      assert.ok(
        text.split('\n').every((line) => line.length <= 125 && line === line.trimEnd()),
        text,
      );
    }
    bad(/no command 'inspekt'; did you mean 'inspect'\? There are inspect, run, grad, ops/, 2, 'inspekt');
    bad(/no command 'convert'; there are inspect, run, grad, ops/, 2, 'convert');
    bad(
      /no option --fetches; did you mean '--fetch'\?\n.*run --help/,
      2,
      'run',
      'model.pb',
      '--fetches',
      'y',
    );
    bad(/model\.pb is missing/, 2, 'inspect');
    bad(/'b\.pb' is one word too many/, 2, 'inspect', 'a.pb', 'b.pb');
    bad(/--fetch needs a value/, 2, 'run', 'model.pb', '--fetch');
    bad(/--y loss is missing/, 2, 'grad', 'model.pb');
    bad(/--out is given twice/, 2, 'run', 'model.pb', '--fetch', 'y', '--out', 'a', '--out=b');
    bad(/--json takes no value/, 2, 'ops', '--json=yes');
  });

  describe('inspect', () => {
    it('shows inputs, outputs and ops in columns', () => {
      const text = good('inspect', 'model.pb');
      assert.match(
        text,
        /^model\.pb: \d+ nodes, producer \d+\n\ninputs\n {2}x {6}float32 {4}\[\?,2\]\n {2}words {2}string {5}\[2\]\n/,
      );
      assert.match(
        text,
        /\noutputs\n {2}loss {9}float32 {4}\[\]\n {2}said {9}string {5}\[2\]\n {2}scope\/minus {2}bfloat16 {3}\?\n/,
      );
      assert.match(text, /\nops \(\d+\)\n {2}Placeholder {2}5\n/);
      assert.match(text, /\nnothing is missing\n$/);
      assert.equal(good('inspect', 'model.pbtxt'), text.replace('model.pb', 'model.pbtxt'));
    });

    it('lists all that is missing, before anything runs, and says so by the exit code', () => {
      const { status, stdout, stderr } = call('inspect', 'lacking.pbtxt');
      assert.deepEqual([status, stderr], [1, '']);
      assert.match(
        stdout,
        /^lacking\.pbtxt: 6 nodes, 1 function, producer 27\n\ninputs\n {2}x {2}int8 {2}\[\?,3\]\n/,
      );
      const missing = stdout.slice(stdout.indexOf('missing\n')).split('\n').slice(1, -1);
      assert.deepEqual(
        missing.map((line) => line.trim().split(/ {2,}/)),
        [
          ['NoSuchOp', 'no such op', '2 nodes', 'a, b'],
          ['MatMul', 'no kernel for int8', '1 node', 'm'],
          ['Nowhere', 'no such function in the library', '1 node', 'p'],
          ['NotHere', 'no such op', '1 node', 'Mine/t'],
        ],
      );
    });

    it('tells apart what only functions lack that are never called', () => {
      const text = good('inspect', 'spare.pbtxt');
      assert.match(
        text,
        /\nmissing in functions that the graph never calls\n {2}NotHere {2}no such op {2}1 node {2}Spare\/t\n\nnothing else is missing\n$/,
      );
      const { missing, uncalled } = JSON.parse(good('inspect', '--json', 'spare.pbtxt'));
      assert.deepEqual(
        { missing, uncalled },
        { missing: [], uncalled: [{ op: 'NotHere', nodes: ['Spare/t'] }] },
      );
    });

    it('gives the same as JSON', () => {
      const { status, stdout } = call('inspect', 'lacking.pbtxt', '--json');
      const report = JSON.parse(stdout);
      assert.equal(status, 1);
      assert.deepEqual(report.inputs, [{ name: 'x', dtype: 'int8', shape: [null, 3] }]);
      assert.deepEqual(report.ops, {
        NoSuchOp: 2,
        MatMul: 1,
        Mine: 1,
        NotHere: 1,
        PartitionedCall: 1,
        Placeholder: 1,
      });
      assert.deepEqual(report.functions, [{ name: 'Mine', nodes: 1 }]);
      assert.deepEqual(report.missing, [
        { op: 'NoSuchOp', nodes: ['a', 'b'] },
        { op: 'MatMul', dtype: 'int8', nodes: ['m'] },
        { op: 'Nowhere', function: true, nodes: ['p'] },
        { op: 'NotHere', nodes: ['Mine/t'] },
      ]);
      assert.deepEqual(JSON.parse(good('inspect', '--json', 'model.pb')).missing, []);
    });

    it('refuses what is no graph', () => {
      writeFileSync(at('rubbish.pb'), Buffer.from([10, 200]));
      writeFileSync(at('rubbish.pbtxt'), 'node {');
      writeFileSync(at('saved_model.pb'), Buffer.from([8, 1, 18, 0]));
      bad(/there is no file none\.pb/, 1, 'inspect', 'none.pb');
      bad(/rubbish\.pb is no GraphDef: /, 1, 'inspect', 'rubbish.pb');
      bad(/rubbish\.pbtxt is no GraphDef in text form: /, 1, 'inspect', 'rubbish.pbtxt');
      bad(/saved_model\.pb: the MetaGraph .* has no graph/, 1, 'inspect', 'saved_model.pb');
    });

    it('tells what a file or folder is that was given by mistake', () => {
      mkdirSync(at('saved'), { recursive: true });
      writeFileSync(at('saved/saved_model.pb'), Buffer.from([8, 1, 18, 0]));
      mkdirSync(at('for-tfjs'), { recursive: true });
      writeFileSync(at('for-tfjs/model.json'), '{"format": "graph-model"}');
      writeFileSync(at('empty.pb'), '');
      writeFileSync(at('empty.pbtxt'), '');
      writeFileSync(at('page.pb'), '<!doctype html><title>404</title>');
      writeFileSync(at('model.ckpt.data-00000-of-00001'), Buffer.alloc(16));
      writeFileSync(at('lfs.pb'), 'version https://git-lfs.github.com/spec/v1\noid sha256:1\n');
      for (const command of [['inspect'], ['run', '--fetch=y'], ['grad', '--y=y', '--x=x']]) {
        const refuses = (message, file) => bad(message, 1, command[0], file, ...command.slice(1));
        refuses(/saved: the MetaGraph .* has no graph/, 'saved');
        refuses(/for-tfjs: model\.json has no graph/, 'for-tfjs');
        refuses(/empty\.pb is empty: it has 0 bytes/, 'empty.pb');
        refuses(/empty\.pbtxt is empty: it has 0 bytes/, 'empty.pbtxt');
        refuses(/page\.pb is an HTML page/, 'page.pb');
        refuses(/is a part of a checkpoint \(\.data\)/, 'model.ckpt.data-00000-of-00001');
        refuses(/lfs\.pb is a pointer of Git LFS/, 'lfs.pb');
        refuses(/there is no file modle\.pb; did you mean model\.pb\?/, 'modle.pb');
      }
    });

    it('reads text, whatever the file is called, and behind the mark of UTF-8', () => {
      const text = readFileSync(at('model.pbtxt'), 'utf8');
      writeFileSync(at('text.pb'), text);
      writeFileSync(at('marked.pbtxt'), `\ufeff${text}`);
      for (const file of ['text.pb', 'marked.pbtxt'])
        assert.equal(good('inspect', file), good('inspect', 'model.pbtxt').replace('model.pbtxt', file));
    });

    it('says that a graph is damaged, and does not say that nothing is missing', () => {
      writeFileSync(
        at('damaged.pbtxt'),
        'node { name: "a" op: "NoOp" input: "^nowhere" } versions { producer: 27 }',
      );
      const { status, stdout } = call('inspect', 'damaged.pbtxt');
      assert.equal(status, 1);
      assert.match(stdout, /\nit cannot be imported: [^]*nowhere/);
      assert.doesNotMatch(stdout, /nothing is missing/);
      assert.match(JSON.parse(call('inspect', 'damaged.pbtxt', '--json').stdout).problem, /nowhere/);
    });

    it('says which output was meant', () => {
      bad(
        /--fetch los: the graph has no such output: .*did you mean 'loss'/,
        1,
        'run',
        'model.pb',
        '--fetch',
        'los',
      );
      bad(/--x ww: the graph has no such output/, 1, 'grad', 'model.pb', '--y', 'loss', '--x', 'ww');
    });
  });

  describe('ops', () => {
    it('is a table of dtypes and gradients', () => {
      const lines = good('ops').trimEnd().split('\n');
      const rows = new Map(lines.slice(1, -2).map((line) => [line.split(' ')[0], line]));
      assert.match(lines[0], /^op +gradient +dtypes$/);
      assert.match(rows.get('Tanh'), /^Tanh +yes +f16 bf16 f32 f64 c64 c128$/);
      assert.match(rows.get('RandomUniformInt'), /^RandomUniformInt +none +i32 i64$/);
      assert.match(rows.get('Identity'), / yes +any$/);
      assert.match(rows.get('NoOp'), / none +-$/);
      const [, count, ...parts] =
        /^(\d+) ops: (\d+) with a gradient, (\d+) through which none flows, (\d+) without one\.$/.exec(
          lines.at(-1),
        );
      assert.equal(Number(count), rows.size);
      assert.equal(
        parts.reduce((sum, part) => sum + Number(part), 0),
        rows.size,
      );
      assert.deepEqual(
        JSON.parse(good('ops', '--json')).find(({ name }) => name === 'RandomUniformInt'),
        { name: 'RandomUniformInt', typeAttr: 'Tout', dtypes: ['int32', 'int64'], gradient: 'none' },
      );
    });

    it('shows one op in full', () => {
      assert.equal(
        good('ops', 'Multinomial'),
        [
          'Multinomial(logits: T, num_samples: i32) -> (output: output_dtype)',
          '',
          'attrs',
          '  seed          int   default 0',
          '  seed2         int   default 0',
          '  T             type  one of f32 f64 i32 u8 i16 i8 i64 bf16 u16 f16 u32 u64',
          '  output_dtype  type  one of i32 i64; default i64',
          '',
          'kernels   T = f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64',
          'gradient  none flows through it',
          'traits    stateful',
          '',
        ].join('\n'),
      );
      assert.match(
        good('ops', 'AddN'),
        /^AddN\(inputs: N \* T\) -> \(sum: T\)\n\nattrs\n {2}N {2}int {3}at least 1\n/,
      );
      assert.equal(JSON.parse(good('ops', 'MatMul', '--json')).input_arg[1].name, 'b');
      bad(/there is no op Matmul; did you mean 'MatMul'/, 1, 'ops', 'Matmul');
      bad(/there is no op Zzzzzzzz\n$/, 1, 'ops', 'Zzzzzzzz');
    });
  });

  describe('run', () => {
    it('prints values', () => {
      assert.equal(
        good('run', 'model.pb', '--feed', 'x=[[1,2]]', '--fetch', 'y', '--fetch', 'loss'),
        'y  float32 [1,3]\n[[2, 6, 3]]\n\nloss  float32 []\n49\n',
      );
      assert.equal(
        good('run', 'model.pb', '--feed', 'x=[[1,2],[0.5,0]]', '--fetch', 'y'),
        'y  float32 [2,3]\n[[2, 6, 3],\n [1, 0, 0.5]]\n',
      );
      assert.deepEqual(
        JSON.parse(good('run', 'model.pbtxt', '--json', '--feed=x=[[1,2]]', '--fetch', 'y:0,loss')),
        { 'y:0': [[2, 6, 3]], loss: 49 },
      );
      assert.equal(
        good('run', 'model.pb', '--feed', 'words=["a","b\\n"]', '--fetch', 'said'),
        'said  string [2]\n["a", "b\\n"]\n',
      );
    });

    it('reads and writes .npy files', () => {
      writeFileSync(at('x.npy'), npy('<f4', [2, 2], Float32Array.of(1, 2, 3, 4)));
      writeFileSync(at('columns.npy'), npy('<f4', [2, 2], Float32Array.of(1, 3, 2, 4), { fortran: true }));
      writeFileSync(at('big.npy'), npy('>f4', [1, 2], Buffer.from([0x3f, 0x80, 0, 0, 0x40, 0, 0, 0])));
      assert.equal(
        good('run', 'model.pb', '--feed', 'x=x.npy', '--fetch', 'y', '--out', 'out/deep'),
        `y  float32  [2,3]  ${path.join('out/deep', 'y.npy')}\n`,
      );
      const { header, data } = readNpy(at('out/deep/y.npy'));
      assert.equal(header, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
      assert.deepEqual([...new Float32Array(new Uint8Array(data).buffer)], [2, 6, 3, 6, 12, 7]);
      const printed = good('run', 'model.pb', '--feed', 'x=x.npy', '--fetch', 'y');
      assert.equal(good('run', 'model.pb', '--feed', 'x=columns.npy', '--fetch', 'y'), printed);
      assert.match(good('run', 'model.pb', '--feed', 'x=big.npy', '--fetch', 'y'), /\[\[2, 6, 3\]\]/);
    });

    it('has every dtype of NumPy', () => {
      const through = (feed, fetch, content) => {
        writeFileSync(at('in.npy'), content);
        good('run', 'model.pb', '--feed', `${feed}=in.npy`, '--fetch', fetch, '--out', '.');
        return readNpy(at(`${fetch.replace('/', '_')}.npy`));
      };
      const words = through('words', 'said', npy('|S3', [2], Buffer.from('one\0\0\0')));
      assert.deepEqual(
        [words.header, words.data.toString()],
        ["{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", 'one\0\0\0'],
      );
      const points = through('words', 'said', npy('<U2', [2], Uint32Array.of(0xe9, 0, 0x1f600, 0x61)));
      assert.deepEqual(
        [points.header.slice(0, 16), points.data.toString()],
        ["{'descr': '|S5',", 'é\0\0\0😀a'],
      );
      const narrow = through('b', 'scope/minus', npy('<f4', [], Float32Array.of(1.5)));
      assert.match(narrow.header, /'<f4'.*'shape': \(\), /);
      assert.equal(narrow.data.readFloatLE(0), -1.5);
      const complex = through('c', 'conjugate', npy('<c8', [], Float32Array.of(1, 2)));
      assert.deepEqual([complex.header.slice(0, 16), complex.data.readFloatLE(4)], ["{'descr': '<c8',", -2]);
      const wide = through('i', 'same', npy('<i8', [1, 1], BigInt64Array.of(-(2n ** 62n))));
      assert.equal(wide.data.readBigInt64LE(0), -(2n ** 62n));
    });

    it('says what is wrong', () => {
      writeFileSync(at('double.npy'), npy('<f8', [1, 2], Float64Array.of(1, 2)));
      writeFileSync(at('short.npy'), npy('<f4', [4, 2], Float32Array.of(1, 2)));
      writeFileSync(at('dates.npy'), npy('<M8[s]', [1], BigInt64Array.of(1n)));
      const run = (...args) => ['run', 'model.pb', ...args];
      bad(
        /--feed x: the graph wants float32, double\.npy holds float64 \(in NumPy: array\.astype\('float32'\)\)/,
        1,
        ...run('--feed', 'x=double.npy', '--fetch', 'y'),
      );
      bad(/short\.npy is cut off: 8 of 32 bytes/, 1, ...run('--feed', 'x=short.npy', '--fetch', 'y'));
      bad(
        /dates\.npy holds elements of NumPy's type '<M8\[s\]'/,
        1,
        ...run('--feed', 'x=dates.npy', '--fetch', 'y'),
      );
      bad(/there is no file none\.npy/, 1, ...run('--feed', 'x=none.npy', '--fetch', 'y'));
      bad(
        /--feed x: '1,2' is neither a \.npy file nor a value in JSON/,
        2,
        ...run('--feed', 'x=1,2', '--fetch', 'y'),
      );
      bad(/--feed x: nested arrays differ in length/, 1, ...run('--feed', 'x=[[1,2],[3]]', '--fetch', 'y'));
      bad(/--feed nowhere: the graph has no such output/, 1, ...run('--feed', 'nowhere=1', '--fetch', 'y'));
      bad(/--fetch z: the graph has no such output/, 1, ...run('--fetch', 'z'));
      bad(/You must feed a value for placeholder tensor 'x' with dtype float/, 1, ...run('--fetch', 'y'));
      bad(
        /lacking\.pbtxt cannot be opened: [^]*NoSuchOp[^]*'tfcore-wasm inspect lacking\.pbtxt' tells what it needs/,
        1,
        'run',
        'lacking.pbtxt',
        '--fetch',
        'f',
      );
    });
  });

  describe('serve', () => {
    it('serves until it is told to end', async () => {
      const server = spawn(process.execPath, [program, 'serve', '--job', 'worker', '--task', '2']);
      const [line] = await once(createInterface({ input: server.stdout }), 'line');
      const [, target, build] =
        /^serving (grpc:\/\/127\.0\.0\.1:\d+) as \/job:worker\/replica:0\/task:2 \(build (.+)\)$/.exec(line);
      assert.match(build, /^(simd|relaxed)/);
      const tf = await engine();
      const g = new tf.Graph();
      const session = new tf.Session(g, { target });
      assert.equal((await session.run(g.square(3))).item(), 9);
      await session.close();
      g.dispose();
      server.kill('SIGTERM');
      assert.deepEqual(await once(server, 'exit'), [0, null]);
    });

    it('serves pages with --websocket, of the origins that it is told', async () => {
      const args = [
        'serve',
        '--websocket',
        '0',
        '--origin',
        'http://a.example',
        '--origin',
        'http://b.example',
      ];
      const server = spawn(process.execPath, [program, ...args]);
      const [line] = await once(createInterface({ input: server.stdout }), 'line');
      const [, target] = /^serving (ws:\/\/127\.0\.0\.1:\d+) as \/job:localhost\/.* \(build .+\)$/.exec(line);
      const codes = await Promise.all(
        ['http://b.example', 'http://localhost'].map(async (origin) => {
          const socket = new WebSocket(target, ['tfcore-wasm.1'], { origin });
          setTimeout(() => socket.close(1000), 300);
          return (await once(socket, 'close'))[0];
        }),
      );
      assert.deepEqual(codes, [1000, 1008]);
      server.kill('SIGTERM');
      assert.deepEqual(await once(server, 'exit'), [0, null]);
    });

    it('says what it is for, that nobody is asked for a password, and what is wrong', () => {
      const help = good('serve', '--help');
      assert.match(help, /--port N/);
      assert.match(help, /--websocket N/);
      assert.match(help, /no authentication/);
      bad(/--port must be a whole number, not 'x'/, 2, 'serve', '--port', 'x');
      bad(/--certificate and --key belong together/, 2, 'serve', '--key', program);
      bad(/--key cannot be read: ENOENT/, 1, 'serve', '--key', 'nowhere.pem');
      bad(/--directory cannot be used/, 1, 'serve', '--directory', 'nowhere');
      bad(/port must be from 0 to 65535/, 1, 'serve', '--port', '65536');
      bad(/websocketPort must be from 0 to 65535/, 1, 'serve', '--websocket', '65536');
    });
  });

  describe('grad', () => {
    it('writes a graph that computes the gradient as well', () => {
      const text = good('grad', 'model.pb', '--y', 'loss', '--x', 'x,w', '--x', 'words');
      assert.match(
        text,
        /^d\/d x:0 +\S+ +float32 +\[\?,2\]\nd\/d w:0 +\S+ +float32 +\[2,3\]\nd\/d words:0 +none: loss does not depend on it\n\nmodel\.grad\.pb: \d+ operations more\n$/,
      );
      const gradient = /^d\/d x:0 +(\S+)/.exec(text)[1];
      /* The sum of (x w)^2 has the gradient 2 x w w^T: of x = [1, 2] it is 2 [2, 6, 3] w^T. */
      assert.match(
        good('run', 'model.grad.pb', '--feed', 'x=[[1,2]]', '--fetch', gradient),
        /\[\[14, 42\]\]/,
      );
      good('grad', 'model.pbtxt', '--y', 'loss', '--x', 'x', '--name', 'mine', '--out', 'new.pbtxt');
      assert.match(readFileSync(at('new.pbtxt'), 'utf8'), /name: "mine\//);
      bad(
        /--x nowhere: the graph has no such output/,
        1,
        'grad',
        'model.pb',
        '--y',
        'loss',
        '--x',
        'nowhere',
      );
      bad(/--x w is missing/, 2, 'grad', 'model.pb', '--y', 'loss');
    });
  });
});
