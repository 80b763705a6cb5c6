// Runs the code of both READMEs as a reader would: in a folder with the package. A block can use the
// variables of earlier blocks. Recipes (readme-blocks.mjs) are files of projects, which peers/ builds.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../../tools/process.mjs';
import { blocksOf, evaluated, programOf, recipe, textOf } from './readme-blocks.mjs';

/** Commands that no test runs unchanged, and why. */
const NOT_RUN = {
  'npm install tfcore-wasm': 'needs the registry; install.test.mjs installs the packed package',
  'npm start': 'trains for a while; tests/js/train-digits.node.test.mjs runs the example',
  'npm test': 'runs this test',
};

/** Does not end; tests/js/cli.node.test.mjs runs it. */
const SERVES = 'npx tfcore-wasm serve';

/** Matches the start of a comment that is a value. A comment that begins with a word or '(' is prose. */
const VALUE = /^(?:-?\d|['"[{]|(?:null|true|false)$)/;

/**
 * If the comment of a statement promises output, a result or an error, the statement becomes a check of that
 * promise.
 */
function keptPromise(line) {
  const [, code, comment] = /^(\S.*;)\s+\/\/ (.*)$/.exec(line) ?? [];
  if (!code) return line;
  const expression = code.slice(0, -1);
  const throws = /^throws: (.*?)( \.\.\.)?$/.exec(comment);
  if (throws) return `checked(await throwsWith(async () => ${expression}, ${JSON.stringify(throws[1])}));`;
  if (!VALUE.test(comment)) return line;
  if (code.startsWith('console.log('))
    return `checked(assert.equal(format${expression.slice('console.log'.length)}, ${JSON.stringify(comment)}));`;
  const [, name] = /^const \[(\w+)\] = /.exec(code) ?? [];
  if (name) return `${code} checked(assert.equal(${name}.item(), ${comment}));`;
  const literal = /^(?:'[^']*'|\[.*\]$)/.exec(comment);
  if (literal && /^[\w.]+\(/.test(code)) return `checked(assert.deepEqual(${expression}, ${literal[0]}));`;
  return line;
}

/**
 * One module of all blocks, each in the scope of the ones before, so that it may use their names and give
 * them anew.
 */
function moduleOf(blocks) {
  const lines = blocks.map((block) => block.split('\n'));
  const isImport = (line) => line.startsWith('import ');
  const imports = [...new Set(lines.flat().filter(isImport))];
  const helpers = `import assert from 'node:assert/strict';
import { format } from 'node:util';
let promises = 0;
const checked = () => promises++;
async function throwsWith(body, text) {
  await assert.rejects(body, (error) => error.message.includes(text));
}`;
  const bodies = lines.map((block) =>
    block
      .filter((line) => !isImport(line))
      .map(keptPromise)
      .join('\n'),
  );
  return [
    ...imports,
    helpers,
    ...bodies.map((body) => `{\n${body}`),
    'process.stdout.write(`promises kept: ${promises}\\n`);',
    '}'.repeat(bodies.length),
  ].join('\n');
}

/**
 * The snippets of the last column of a table, row by row: what is in backticks and calls something, or takes
 * a part of something.
 */
function snippetsOfLastColumn(text, heading) {
  const section = text.slice(text.indexOf(`## ${heading}\n`));
  const rows = section
    .slice(0, section.indexOf('\n## ', 3))
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| |'));
  return rows.map((row) =>
    Array.from(
      row
        .split('|')
        .at(-2)
        .matchAll(/`([^`]+)`/g),
      ([, code]) => code,
    ).filter((code) => /^(await |new |\w+\.)/.test(code)),
  );
}

/** What the snippets of the table of npm/README.md take for granted. */
const TABLE_SCENE = `
import { writeFileSync } from 'node:fs';
import { init } from 'tfcore-wasm';
const tf = await init();
const g = new tf.Graph();
const x = g.placeholder('float32', [null, 2], { name: 'x' });
const w = g.variable([[2], [3]], { name: 'w' });
const y = g.matMul(x, w, { name: 'y' });
const loss = g.mean(g.square(y), [0, 1]);
let session = new tf.Session(g);
await session.run(g.initializer());
const bytes = await tf.freeze(session, [y]);
const address = 'model.pb';
writeFileSync(address, bytes);
const model = await tf.load(address);
const graph = new tf.Graph();
graph.importGraphDef(bytes);
const value = [[1, 2]];
const result = await session.run(loss, { x: [[1, 1]] });
`;

describe('the code of the READMEs', function () {
  this.timeout(60_000);
  let folder;
  const inFolder = (command, ...args) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'readme-'));
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(root, 'npm'), path.join(folder, 'node_modules/tfcore-wasm'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs blocks; returns how many of their comments were held against what happened. */
  function run(blocks) {
    writeFileSync(path.join(folder, 'blocks.mjs'), moduleOf(blocks));
    return Number(/promises kept: (\d+)\n$/.exec(inFolder('node', 'blocks.mjs'))[1]);
  }

  it('runs and gives what the comments say: the package', () =>
    assert.equal(run(programOf('npm/README.md')), 12));

  it('runs and gives what the comments say: the repository', () =>
    assert.equal(run(programOf('README.md')), 2));

  it('runs alone where a block begins with init()', () => {
    for (const name of ['README.md', 'npm/README.md']) {
      const alone = programOf(name).filter((code) => /\binit\(/.test(code));
      assert.equal(alone.length, 1, name);
      assert.ok(run(alone) > 0, name);
    }
  });

  it('holds what a promise says against what happens, and leaves prose alone', () => {
    const broken = (line) => assert.throws(() => run([line]), /AssertionError/, line);
    for (const line of [
      'console.log(1 + 1);  // 3',
      'console.log([1]);  // [ 2 ]',
      "String(1);  // '2'",
      'const [y] = [{ item: () => 1 }];  // 2',
      'String(1);  // throws: no',
    ])
      broken(line);
    assert.equal(
      run(['console.log(1, -1);  // 1 -1', 'console.log(2);  // close to 1', 'console.log(3);  // (prose)']),
      1,
    );
  });

  it('has no block that nothing runs', () => {
    const peers = readdirSync(path.join(root, 'tests/package/peers'))
      .map((name) => textOf(`tests/package/peers/${name}`))
      .join('\n');
    for (const name of ['README.md', 'npm/README.md']) {
      for (const { language, code, file } of blocksOf(name)) {
        if (file)
          assert.ok(
            peers.includes(`recipe('${file}')`),
            `${name}: no test of peers/ takes the recipe for ${file}`,
          );
        else if (language === 'sh')
          for (const line of code.trim().split('\n'))
            assert.ok(isRun(line, peers), `${name}: nothing runs '${line}'`);
        else assert.ok(['js', 'py'].includes(language), `${name}: a block of '${language}'`);
      }
    }
  });

  /** Whether a line of a shell is run here, by peers/, or is one that cannot be. */
  function isRun(line, peers) {
    const command = line.replace(/\s+#.*$/, '');
    const ofPeers = blocksOf('npm/README.md').find(
      ({ language, code }) => language === 'sh' && code.split('\n').includes(line),
    )?.code;
    return (
      command in NOT_RUN ||
      command.startsWith('npx tfcore-wasm ') ||
      (ofPeers?.startsWith('npx esbuild ') && peers.includes("commandsOf('npx esbuild ')"))
    );
  }

  it('computes what the recipe for model.js says', () => {
    writeFileSync(path.join(folder, 'model.mjs'), recipe('model.js'));
    writeFileSync(
      path.join(folder, 'use.mjs'),
      "import { run } from './model.mjs';\nawait run([1]);\nconsole.log(await run([1, 2, 3]));\n",
    );
    assert.equal(
      inFolder('node', 'use.mjs'),
      `${/console\.log\(data\);\s+\/\/ (.*)/.exec(recipe('main.js'))[1]}\n`,
    );
  });

  it('has the same two headers for threads in every recipe', async () => {
    const headers = Object.fromEntries(
      Array.from(
        textOf('npm/README.md').matchAll(/^ {4}(Cross-Origin-[\w-]+): (\S+)$/gm),
        ([, key, value]) => [key, value],
      ),
    );
    const { 'Cross-Origin-Opener-Policy': opener, 'Cross-Origin-Embedder-Policy': embedder } = headers;
    assert.deepEqual([opener, embedder, Object.keys(headers).length], ['same-origin', 'require-corp', 2]);
    const settings = async (file) => (await evaluated(recipe(file))).default;
    assert.deepEqual((await settings('vite.config.js')).server.headers, headers);
    assert.deepEqual((await settings('webpack.config.js')).devServer.headers, headers);
    const [{ headers: pairs }] = await (await settings('next.config.mjs')).headers();
    assert.deepEqual(Object.fromEntries(pairs.map(({ key, value }) => [key, value])), headers);
  });

  it('has a table for those who come from elsewhere whose own column runs', () => {
    const rows = snippetsOfLastColumn(
      textOf('npm/README.md'),
      'Coming from TensorFlow.js, ONNX Runtime Web or Keras',
    );
    assert.equal(rows.length, 11);
    const lines = rows.map((snippets) => snippets.map((code) => `await (async () => ${code})();`).join('\n'));
    for (const [i, snippets] of rows.entries()) assert.ok(snippets.length > 0, `row ${i} has no code`);
    const again =
      'await new tf.Session(graph).run("y", { x: value }).then((y) => { if (y.item() !== 8) throw new Error(`${y.item()}`); });';
    const memory = rows.findIndex((snippets) => snippets.includes('graph.dispose()'));
    writeFileSync(
      path.join(folder, 'table.mjs'),
      [TABLE_SCENE, ...lines.slice(0, memory), again, ...lines.slice(memory)].join('\n'),
    );
    inFolder('node', 'table.mjs');
  });

  it('promises no more ops than there are', () => {
    const [, promised] = /more than (\d+) are there/.exec(textOf('npm/README.md'));
    const listed = JSON.parse(inFolder('node', 'node_modules/tfcore-wasm/dist/cli.js', 'ops', '--json'));
    assert.ok(listed.length > Number(promised), `${listed.length}, not more than ${promised}`);
  });

  it('runs on the command line', () => {
    const commands = blocksOf('npm/README.md')
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => code)
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('npx tfcore-wasm ') && !line.startsWith(SERVES));
    assert.equal(commands.length, 5);
    writeFileSync(
      path.join(folder, 'model.mjs'),
      `
      import { writeFileSync } from 'node:fs';
      import { init } from 'tfcore-wasm';
      const tf = await init({ threads: 1 });
      const g = new tf.Graph();
      const w = g.constant([[2], [3]], { name: 'w' });
      const y = g.matMul(g.placeholder('float32', [null, 2], { name: 'x' }), w, { name: 'y' });
      g.mean(y, [0, 1], { name: 'loss' });
      writeFileSync('model.pb', g.toGraphDef());
    `,
    );
    inFolder('node', 'model.mjs');
    const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }".padEnd(117) + '\n'; // NumPy's format 1.0
    writeFileSync(
      path.join(folder, 'in.npy'),
      Buffer.concat([
        Buffer.from([0x93]),
        Buffer.from('NUMPY\x01\x00'),
        Buffer.from([header.length, 0]),
        Buffer.from(header),
        Buffer.from(Float32Array.of(4, 5).buffer),
      ]),
    );
    const outputs = commands.map((line) => {
      const words = line
        .replace(/\s+#.*$/, '')
        .split(/\s+/)
        .slice(2);
      return inFolder('node', 'node_modules/tfcore-wasm/dist/cli.js', ...words);
    });
    assert.match(outputs[0], /nothing is missing/);
    assert.equal(
      new Float32Array(Uint8Array.from(readFileSync(path.join(folder, 'y.npy')).subarray(-4)).buffer)[0],
      23,
    );
    assert.ok(
      readFileSync(path.join(folder, 'model.grad.pb')).length >
        readFileSync(path.join(folder, 'model.pb')).length,
    );
    assert.match(outputs[3], /^MatMul /m);
    assert.match(outputs[4], /transpose_a/);
  });
});
