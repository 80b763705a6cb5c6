// The code of both READMEs, run as a reader would: in a folder that has the package. A later block sees what the blocks before it made.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../../tools/process.mjs';

const read = (name) => readFileSync(path.join(root, name), 'utf8');
const blocksOf = (text, language) => Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm')), ([, code]) => code);

/** A statement whose comment is a promise becomes one that checks it: what is printed, what a call gives, what it throws. */
function keptPromise(line) {
  const [, code, comment] = /^(\S.*;)\s+\/\/ (.*)$/.exec(line) ?? [];
  if (!code) return line;
  const expression = code.slice(0, -1);
  const throws = /^throws: (.*?)( \.\.\.)?$/.exec(comment);
  if (throws) return `checked(await throwsWith(async () => ${expression}, ${JSON.stringify(throws[1])}));`;
  if (code.startsWith('console.log(') && /^[\d[']/.test(comment)) {
    return `checked(assert.equal(format${expression.slice('console.log'.length)}, ${JSON.stringify(comment)}));`;
  }
  if (comment.startsWith("'") && /^[\w.]+\(/.test(code)) return `checked(assert.deepEqual(${expression}, ${/^'[^']*'/.exec(comment)[0]}));`;
  return line;
}

/** One module of all blocks, each in the scope of the ones before, so that it may use their names and give them anew. */
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
  const bodies = lines.map((block) => block.filter((line) => !isImport(line)).map(keptPromise).join('\n'));
  return [...imports, helpers, ...bodies.map((body) => `{\n${body}`), 'process.stdout.write(`promises kept: ${promises}\\n`);', '}'.repeat(bodies.length)].join('\n');
}

describe('the code of the READMEs', function () {
  this.timeout(60_000);
  let folder;
  const inFolder = (command, ...args) => execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'readme-'));
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(root, 'npm'), path.join(folder, 'node_modules/tfcore-wasm'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the blocks; returns how many of their comments were held against what happened. */
  function run(name) {
    const file = `${name.replaceAll('/', '-')}.mjs`;
    writeFileSync(path.join(folder, file), moduleOf(blocksOf(read(name), 'js')));
    return Number(/promises kept: (\d+)\n$/.exec(inFolder('node', file))[1]);
  }

  it('runs and gives what the comments say: the package', () => assert.equal(run('npm/README.md'), 5));

  it('runs and gives what the comments say: the repository', () => assert.equal(run('README.md'), 1));

  it('promises no more ops than there are', () => {
    const [, promised] = /more than (\d+) are there/.exec(read('npm/README.md'));
    const listed = JSON.parse(inFolder('node', 'node_modules/tfcore-wasm/dist/cli.js', 'ops', '--json'));
    assert.ok(listed.length > Number(promised), `${listed.length}, not more than ${promised}`);
  });

  it('runs on the command line', () => {
    const commands = blocksOf(read('npm/README.md'), 'sh').join('').split('\n').filter((line) => line.startsWith('npx tfcore-wasm '));
    assert.equal(commands.length, 5);
    writeFileSync(path.join(folder, 'model.mjs'), `
      import { writeFileSync } from 'node:fs';
      import { init } from 'tfcore-wasm';
      const tf = await init({ threads: 1 });
      const g = new tf.Graph();
      const w = g.constant([[2], [3]], { name: 'w' });
      const y = g.matMul(g.placeholder('float32', [null, 2], { name: 'x' }), w, { name: 'y' });
      g.mean(y, [0, 1], { name: 'loss' });
      writeFileSync('model.pb', g.toGraphDef());
    `);
    inFolder('node', 'model.mjs');
    const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }".padEnd(117) + '\n'; // NumPy's format 1.0
    writeFileSync(path.join(folder, 'in.npy'), Buffer.concat([Buffer.from([0x93]), Buffer.from('NUMPY\x01\x00'), Buffer.from([header.length, 0]), Buffer.from(header),
      Buffer.from(Float32Array.of(4, 5).buffer)]));
    const outputs = commands.map((line) => {
      const words = line.replace(/\s+#.*$/, '').split(/\s+/).slice(2);
      return inFolder('node', 'node_modules/tfcore-wasm/dist/cli.js', ...words);
    });
    assert.match(outputs[0], /nothing is missing/);
    assert.equal(new Float32Array(Uint8Array.from(readFileSync(path.join(folder, 'y.npy')).subarray(-4)).buffer)[0], 23);
    assert.ok(readFileSync(path.join(folder, 'model.grad.pb')).length > readFileSync(path.join(folder, 'model.pb')).length);
    assert.match(outputs[3], /^MatMul /m);
    assert.match(outputs[4], /transpose_a/);
  });
});
