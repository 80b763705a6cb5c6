// The package as consumers install it: `npm pack` makes a tarball of npm/, and an empty folder installs it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../../tools/process.mjs';

/** What a main module may have after gzip -9. What most programs never run goes into another module. */
const MOST_BYTES = 450_000;
const scripts = [
  ...['index.js', 'model-formats.js', 'keras-files.js', 'server.js', 'glue-threads.js'],
  ...['inline.js', 'testing.js', 'tfcore-worker.js', 'cli.js'],
];

describe('the package, packed and installed', function () {
  this.timeout(120_000);
  let folder;
  let files;
  const inFolder = (command, ...args) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const write = (name, text) => writeFileSync(path.join(folder, name), text);

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'consumer-'));
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--pack-destination', folder, '--loglevel=error'], {
        cwd: path.join(root, 'npm'),
        encoding: 'utf8',
      }),
    );
    files = packed.files.map((file) => file.path);
    write('package.json', '{ "private": true, "type": "module" }');
    inFolder(
      'npm',
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      path.join(folder, packed.filename),
    );
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('holds the four builds with their other modules, the scripts with their maps, types, licence and readme, and nothing else', () => {
    const builds = [
      ...['simd', 'simd-training', 'simd-side'],
      ...['relaxed', 'relaxed-training', 'relaxed-side'],
      ...['simd-threads', 'relaxed-threads'],
    ].map((name) => `tfcore-${name}.wasm`);
    const wanted = [...scripts, ...scripts.map((name) => `${name}.map`), ...builds]
      .map((name) => `dist/${name}`)
      .concat('dist/NOTICES.txt', 'LICENSE', 'README.md', 'package.json');
    const others = files.filter((name) => !name.endsWith('.d.ts'));
    assert.deepEqual(others.sort(), wanted.sort());
    for (const name of ['index', 'inline', 'testing']) assert.ok(files.includes(`dist/${name}.d.ts`), name);
  });

  it('has main modules that are quickly downloaded', () => {
    for (const name of ['tfcore-simd.wasm', 'tfcore-relaxed.wasm']) {
      const packed = gzipSync(readFileSync(path.join(root, 'npm/dist', name)), { level: 9 });
      assert.ok(packed.length <= MOST_BYTES, `${name} has ${packed.length} bytes when it is compressed`);
    }
  });

  it('has modules that fill the table of the main module, which has no other', () => {
    const read = (file) =>
      new WebAssembly.Module(readFileSync(path.join(root, `npm/dist/tfcore-${file}.wasm`)));
    const tables = (list) => list.filter(({ kind }) => kind === 'table').map((table) => table.name);
    const exported = tables(WebAssembly.Module.exports(read('simd')));
    assert.equal(exported.length, 1);
    for (const part of ['simd-training', 'simd-side'])
      assert.deepEqual(tables(WebAssembly.Module.imports(read(part))), exported);
  });

  it('holds the notices of the libraries in the wasm files', () => {
    const notices = readFileSync(path.join(folder, 'node_modules/tfcore-wasm/dist/NOTICES.txt'), 'utf8');
    for (const words of [
      'based in part on the work of the Independent JPEG Group',
      'PNG Reference Library License',
      'Jean-loup Gailly and Mark Adler',
      'The GIFLIB distribution is',
      'Dave Benson and the protobuf-c authors',
    ])
      assert.ok(notices.includes(words), words);
  });

  it('has source maps that hold the TypeScript itself', () => {
    for (const name of scripts) {
      const [, last] =
        /\n\/\/# sourceMappingURL=(.*)\n$/.exec(readFileSync(path.join(root, 'npm/dist', name), 'utf8')) ??
        [];
      assert.equal(last, `${name}.map`);
      const { sources, sourcesContent, mappings } = JSON.parse(
        readFileSync(path.join(root, 'npm/dist', last), 'utf8'),
      );
      assert.equal(sourcesContent.length, sources.length);
      assert.ok(mappings.length > 0);
      const places = sources.filter(
        (source) => !/^(\.\.\/\.\.\/bindings\/js\/[\w/-]+\.ts|(glue|packed):[\w-]+)$/.test(source),
      );
      assert.deepEqual(places, [], `${name}: sources that mean nothing elsewhere`);
      const typescript = sources.flatMap((source, i) =>
        source.endsWith('.ts') ? [[source, sourcesContent[i]]] : [],
      );
      assert.ok(typescript.length > 0 || name === 'glue-threads.js', name);
      for (const [source, text] of typescript)
        assert.equal(text, readFileSync(path.resolve(root, 'npm/dist', source), 'utf8'), source);
    }
  });

  it('describes itself as npm wants', () => {
    const {
      description,
      keywords,
      license,
      engines,
      sideEffects,
      exports: entries,
    } = JSON.parse(readFileSync(path.join(root, 'npm/package.json'), 'utf8'));
    for (const [field, value] of Object.entries({ description, keywords, license, engines, sideEffects }))
      assert.ok(value, field);
    for (const file of sideEffects) assert.ok(files.includes(file.replace('./', '')), file);
    for (const [entry, target] of Object.entries(entries))
      if (typeof target === 'object') assert.deepEqual(Object.keys(target), ['types', 'default'], entry);
  });

  it('has files behind all of its exports', async () => {
    const {
      exports: entries,
      main,
      types,
      bin,
    } = JSON.parse(readFileSync(path.join(root, 'npm/package.json'), 'utf8'));
    const places = [
      main,
      types,
      ...Object.values(bin),
      ...Object.values(entries).flatMap((entry) =>
        typeof entry === 'string' ? entry : Object.values(entry),
      ),
    ];
    for (const place of places) assert.ok(files.includes(place.replace('./', '')), place);
  });

  it('runs and differentiates a graph in plain Node, as ESM, and lets Node end', () => {
    write(
      'use.mjs',
      `
      import { init } from 'tfcore-wasm';
      const tf = await init();
      const g = new tf.Graph();
      const x = g.placeholder('float32', [null, 2], { name: 'x' });
      const y = g.matMul(x, g.constant([[1, 2], [3, 4]]));
      const [dx] = g.gradients([y], [x]);
      const session = new tf.Session(g);
      const [value, gradient] = await session.run([y, dx], new Map([[x, [[1, 1], [2, 0]]]]));
      let code;
      try {
        await session.run([y]);
      } catch (error) {
        code = error.code;
      }
      console.log(JSON.stringify([value.shape, [...value.data], [...gradient.data], code]));
    `,
    );
    assert.deepEqual(JSON.parse(inFolder('node', 'use.mjs')), [
      [2, 2],
      [4, 6, 2, 4],
      [3, 7, 3, 7],
      'INVALID_ARGUMENT',
    ]);
  });

  it('puts its command line where npx finds it', () => {
    write(
      'make.mjs',
      `
      import { writeFileSync } from 'node:fs';
      import { init } from 'tfcore-wasm';
      const tf = await init({ threads: 1 });
      const g = new tf.Graph();
      g.square(g.placeholder('float32', [null], { name: 'x' }), { name: 'y' });
      writeFileSync('model.pb', g.toGraphDef());
    `,
    );
    inFolder('node', 'make.mjs');
    const npx = (...words) => inFolder('npx', '--offline', '--no', '--', 'tfcore-wasm', ...words);
    assert.match(npx('--help'), /inspect[^]*run[^]*grad[^]*ops/);
    assert.match(npx('inspect', 'model.pb'), /^model\.pb: 2 nodes, [^]*nothing is missing\n$/);
    assert.match(npx('run', 'model.pb', '--feed', 'x=[3,-4]', '--fetch', 'y'), /9\D+16/);
    assert.match(npx('ops', 'MatMul'), /transpose_a/);
    assert.throws(
      () => npx('inspect', 'missing.pb'),
      (error) => error.status === 1 && /missing\.pb/.test(error.stderr),
    );
  });

  it('has types that a strict TypeScript project accepts', () => {
    write(
      'use.ts',
      `
      import { init, InferenceContext, OpSpec, Tensor } from 'tfcore-wasm';
      import { inferShapes } from 'tfcore-wasm/testing';
      const tf = await init({ variant: 'simd' });
      const cube: OpSpec = {
        name: 'Cube', inputs: ['x: float'], outputs: ['y: float'], gradient: null,
        shape: (c: InferenceContext) => c.setOutput(0, [c.input(0).dim(0), 2, null]),
        kernel: ([x], { scale }) => [tf.tensor((x.data as Float32Array).map((v) => v ** 3 * Number(scale)), x.shape)],
      };
      tf.registerOp(cube);
      tf.registerOp({ ...cube, name: 'Other', kernel: ([x]) => x });
      // @ts-expect-error: a kernel cannot be async
      tf.registerOp({ ...cube, name: 'Late', kernel: async ([x]) => [x] });
      const text: string = inferShapes(tf, { op: 'Cube', inputTensors: { 0: [1, 2] } }, '[2]');
      const words: Tensor = tf.tensor([['a', 'b'], ['c', new Uint8Array(1)]], undefined, 'string');
      const complex: Tensor = tf.tensor({ re: 1, im: 2 }, undefined, 'DT_COMPLEX64');
      const g = new tf.Graph();
      const x = g.placeholder('float32', [null, 2]);
      for (const { operation, index } of x.consumers()) console.log(operation.attrs()[\`\${index}\`]);
      const session = new tf.Session(g);
      const [y] = await session.run([g.matMul(x, x, { transposeB: true })], new Map([[x, [[1, 1]]]]));
      const shape: number[] = y.shape;
      // @ts-expect-error: an option that no op has
      g.matMul(x, x, { transposeC: true });
      export { complex, shape, text, words };
    `,
    );
    mkdirSync(path.join(folder, 'out'));
    const tsc = path.join(root, 'node_modules/.bin/tsc');
    try {
      inFolder(
        tsc,
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'es2022',
        '--lib',
        'es2023,dom,esnext.disposable',
        '--types',
        '',
        '--outDir',
        'out',
        'use.ts',
      );
    } catch (error) {
      assert.fail(error.stdout);
    }
  });
});
