// The package in other JavaScript hosts: versions of Node, Bun and Deno, hosts that refuse threads, and
// starts that fail.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { run } from '../../../tools/process.mjs';
import { ALL, checkResults, consumerWithPeers, copyFiles, runIn } from './consumer.mjs';

const PROGRAM = `import { probeAll } from './probe.js';
const folder = process.argv[2];
probeAll(folder && { wasm: folder }).then((results) => console.log(JSON.stringify(results)));
`;

describe('the package in', function () {
  this.timeout(120_000);
  let user;
  let folder;
  before(async function () {
    this.timeout(600_000);
    user = await consumerWithPeers(this);
    folder = user.project('hosts', {
      'main.js': PROGRAM,
      'one.js': PROGRAM.replace('probeAll }', 'probe }')
        .replace(/probeAll\(.*\)\.then/, 'probe(folder && { wasm: folder }).then')
        .replace('(results)))', '({ chosen: results })))'),
    });
  });

  const node = (version) => path.join(user.peers, `node_modules/node${version}/bin/node`);
  const resultsFrom = (output) => JSON.parse(output.trim().split('\n').at(-1));

  for (const version of [20, 22, 24, 26]) {
    it(`Node ${version}`, async () => {
      const flags = version === 20 ? ['--experimental-wasm-relaxed-simd'] : [];
      checkResults(resultsFrom(await runIn(folder, node(version), [...flags, 'main.js'])), { variants: ALL });
    });
  }

  it('Node 20 without relaxed SIMD, which is told', async () => {
    const variants = ['simd', 'simd-threads'];
    checkResults(resultsFrom(await runIn(folder, node(20), ['main.js'])), {
      variants,
      reason: /no relaxed SIMD/,
    });
  });

  for (const [version, flag] of [
    [20, '--experimental-permission'],
    [22, '--permission'],
    [24, '--permission'],
    [26, '--permission'],
  ]) {
    it(`Node ${version} under ${flag}: one thread, and a reason`, async () => {
      const { chosen } = resultsFrom(
        await runIn(folder, node(version), [flag, '--allow-fs-read=*', 'one.js']),
      );
      assert.deepEqual(
        [chosen.variant.replace('relaxed', 'simd'), chosen.threads, chosen.product],
        ['simd', 1, true],
      );
      assert.match(
        chosen.reason,
        /one thread: a Worker was refused \(.*(permission|restricted|--allow-worker)/i,
      );
      const allowed = resultsFrom(
        await runIn(folder, node(version), [flag, '--allow-fs-read=*', '--allow-worker', 'one.js']),
      );
      assert.match(allowed.chosen.variant, /-threads$/);
    });
  }

  it('Node, from a folder with the wasm, and without the script of the threads', async () => {
    const files = path.join(folder, 'files/');
    copyFiles(user.dist, files);
    const all = resultsFrom(await runIn(folder, node(24), ['main.js', files]));
    checkResults(all, { variants: ALL });
    rmSync(path.join(files, 'tfcore-worker.js'));
    const { chosen } = resultsFrom(await runIn(folder, node(24), ['one.js', files]));
    assert.equal(chosen.variant, 'relaxed');
    assert.match(chosen.reason, /one thread: a Worker was refused \(.*tfcore-worker\.js/);
    const { code, output } = await run(
      node(24),
      [
        '--input-type=module',
        '-e',
        `import { init } from 'tfcore-wasm';
      await init({ variant: 'simd-threads', wasm: ${JSON.stringify(files)} }).catch((error) => console.log(error.name, error.message));`,
      ],
      { cwd: folder },
    );
    assert.equal(code, 0, output);
    assert.match(output, /^UnavailableError variant 'simd-threads' cannot run here: a Worker was refused/);
  });

  it('Node, which a failed start does not keep alive', async () => {
    const started = Date.now();
    const { code, output } = await run(
      node(24),
      [
        '--input-type=module',
        '-e',
        `import { init } from 'tfcore-wasm';
      const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
      const starts = [{ wasm: empty, variant: 'simd-threads' }, { wasm: '/no/such.wasm', variant: 'simd-threads', threads: 4 }, { wasm: new ArrayBuffer(3), variant: 'relaxed-threads' }];
      for (const options of starts) await init(options).then(() => console.log('started'), (error) => console.log(error.code));`,
      ],
      { cwd: folder },
    );
    assert.equal(code, 0, output);
    assert.deepEqual(output.trim().split('\n'), ['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE']);
    assert.ok(Date.now() - started < 15_000, `ended after ${Date.now() - started} ms`);
  });

  it('Bun', async () => {
    const results = resultsFrom(
      await runIn(folder, path.join(user.peers, 'node_modules/@oven/bun-linux-x64/bin/bun'), ['main.js']),
    );
    checkResults(
      results,
      'relaxed' in results
        ? { variants: ALL }
        : { variants: ['simd', 'simd-threads'], reason: /no relaxed SIMD/ },
    );
  });

  it('Deno', async () => {
    const deno = path.join(user.peers, 'node_modules/@deno/linux-x64-glibc/deno');
    checkResults(
      resultsFrom(
        await runIn(folder, deno, [
          'run',
          '--allow-read',
          '--allow-env',
          '--allow-sys',
          '--no-lock',
          'main.js',
        ]),
      ),
      { variants: ALL },
    );
  });

  it('a module Worker of Node', async () => {
    const place = user.project('node-worker', {
      'main.js': `import { Worker } from 'node:worker_threads';
new Worker(new URL('./worker.js', import.meta.url)).on('message', (results) => console.log(JSON.stringify(results)));\n`,
      'worker.js': `import { parentPort } from 'node:worker_threads';\nimport { probeAll } from './probe.js';\nprobeAll().then((results) => parentPort.postMessage(results));\n`,
    });
    checkResults(resultsFrom(await runIn(place, node(24), ['main.js'])), { variants: ALL });
  });

  it('CommonJS of Node, through import()', async () => {
    const place = user.project('node-cjs', {
      'main.cjs': `import('./probe.js').then(({ probe }) => probe()).then((chosen) => console.log(JSON.stringify({ chosen })));\n`,
    });
    const { chosen } = resultsFrom(await runIn(place, node(22), ['main.cjs']));
    assert.deepEqual([chosen.variant, chosen.product], ['relaxed-threads', true]);
    const required = await runIn(place, node(24), [
      '-e',
      "require('tfcore-wasm').init().then((tf) => console.log(tf.variant))",
    ]);
    assert.equal(required.trim(), 'relaxed-threads');
  });
});
