// User projects that bundlers build as in their templates, and that run in Chromium. Their settings are the
// recipes of npm/README.md.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build as esbuild } from 'esbuild';
import { spawn } from 'node:child_process';
import { root } from '../../../tools/process.mjs';
import { commandsOf, evaluated, recipe } from '../readme-blocks.mjs';
import {
  ALL,
  checkResults,
  consumerWithPeers,
  copyFiles,
  HTML,
  keptPrints,
  MODEL,
  PAGE_PROGRAM,
  runIn,
} from './consumer.mjs';
import { checkSite, closeChromium, resultsOf, resultsOfFolder } from './pages.mjs';

/** The page's program in a module Worker. The engine's own workers are then nested workers. */
const IN_WORKER = {
  'main.js': keptPrints(recipe('main.js')),
  'worker.js': recipe('worker.js'),
  'model.js': MODEL,
};

/** The recipe, changed for sites below a path. */
const VITE_CONFIG = recipe('vite.config.js').replace(
  'export default {\n',
  "export default {\n  base: './',\n",
);

describe('the package, built by', function () {
  this.timeout(400_000);
  let user;
  before(async function () {
    this.timeout(600_000);
    user = await consumerWithPeers(this);
  });
  after(closeChromium);

  const vite = (version) => path.join(user.peers, `node_modules/vite${version}/bin/vite.js`);

  /** Runs `body` with the address of Vite's development server. */
  async function withViteServer(version, folder, body) {
    const server = spawn('node', [vite(version), '--port', '0', '--host', '127.0.0.1'], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
    });
    let output = '';
    try {
      const address = await new Promise((resolve, reject) => {
        const look = (text) => {
          const found = /http:\/\/127\.0\.0\.1:\d+\//.exec((output += text));
          if (found) resolve(found[0]);
        };
        server.stdout.on('data', look);
        server.stderr.on('data', look);
        server.on('exit', () => reject(new Error(output)));
      });
      return await body(address);
    } finally {
      server.kill();
    }
  }

  for (const version of [5, 6, 7, 8]) {
    it(`Vite ${version}`, async () => {
      const folder = user.project(`vite${version}`, { 'vite.config.js': VITE_CONFIG });
      await runIn(folder, 'node', [vite(version), 'build']);
      await checkSite(path.join(folder, 'dist'));
    });
  }

  for (const version of [5, 8]) {
    it(`Vite ${version}, its development server`, async () => {
      const folder = user.project(`vite${version}-dev`, { 'vite.config.js': VITE_CONFIG });
      await withViteServer(version, folder, async (address) =>
        checkResults(await resultsOf(address), { variants: ALL }),
      );
    });
  }

  it('Vite, in a Worker', async () => {
    const folder = user.project('vite-worker', { ...IN_WORKER, 'vite.config.js': VITE_CONFIG });
    await runIn(folder, 'node', [vite(8), 'build']);
    await checkSite(path.join(folder, 'dist'));
    await withViteServer(8, folder, async (address) =>
      checkResults(await resultsOf(address), { variants: ALL }),
    );
  });

  it('Vite, with the model and the Worker of the README', async () => {
    const folder = user.project('vite-readme', {
      ...IN_WORKER,
      'model.js': recipe('model.js'),
      'vite.config.js': VITE_CONFIG,
    });
    await runIn(folder, 'node', [vite(8), 'build']);
    assert.deepEqual(await resultsOfFolder(path.join(folder, 'dist'), {}), [1, 4, 9]);
  });

  it("Vite's development server without the setting, which says what to set", async () => {
    const folder = user.project('vite-unset', {
      'vite.config.js': VITE_CONFIG.replace(/.*optimizeDeps.*\n/, ''),
    });
    await withViteServer(7, folder, async (address) => {
      const { chosen } = await resultsOf(address);
      assert.match(
        chosen.failed,
        /optimizeDeps: \{ exclude: \['tfcore-wasm'\] \}.*\(this is what happened here\)/,
      );
    });
  });

  const runWebpack = (folder, settings) =>
    new Promise((resolve, reject) => {
      const webpack = createRequire(path.join(user.peers, 'package.json'))('webpack');
      webpack(
        {
          mode: 'production',
          performance: false,
          context: folder,
          entry: './main.js',
          output: { path: path.join(folder, 'dist') },
          ...settings,
        },
        (error, stats) => {
          if (error || stats.hasErrors() || stats.hasWarnings()) reject(error ?? new Error(stats.toString()));
          else resolve();
        },
      );
    });
  const writePage = (folder) => writeFileSync(path.join(folder, 'index.html'), HTML);

  it('webpack 5', async () => {
    const folder = user.project('webpack');
    await runWebpack(folder, (await evaluated(recipe('webpack.config.js'))).default);
    writePage(path.join(folder, 'dist'));
    await checkSite(path.join(folder, 'dist'));
  });

  it('webpack 5, in a Worker', async () => {
    const folder = user.project('webpack-worker', IN_WORKER);
    await runWebpack(folder);
    writePage(path.join(folder, 'dist'));
    await checkSite(path.join(folder, 'dist'));
  });

  it('webpack 5, for Node', async () => {
    const folder = user.project('webpack-node', {
      'main.js': `import { probeAll } from './probe.js';\nprobeAll().then((results) => console.log(JSON.stringify(results)));\n`,
    });
    await runWebpack(folder, {
      target: 'node20',
      output: { path: path.join(folder, 'dist'), filename: 'main.js', module: true, chunkFormat: 'module' },
      experiments: { outputModule: true },
    });
    writeFileSync(path.join(folder, 'dist/package.json'), '{ "type": "module" }');
    const results = JSON.parse(
      await runIn(folder, 'node', ['--experimental-wasm-relaxed-simd', 'dist/main.js']),
    );
    checkResults(results, { variants: ALL });
  });

  for (const minify of [false, true]) {
    it(`esbuild${minify ? ', minified' : ''}`, async () => {
      const folder = user.project(`esbuild-${minify}`);
      const [bundle, ...copies] = commandsOf('npx esbuild ');
      const [, ...words] = bundle.split(' ');
      await runIn(folder, 'node', [
        path.join(root, 'node_modules/esbuild/bin', words[0]),
        ...words.slice(1),
        ...(minify ? ['--minify'] : []),
      ]);
      for (const line of copies) await runIn(folder, 'sh', ['-c', line]);
      writePage(path.join(folder, 'public'));
      await checkSite(path.join(folder, 'public'));
    });
  }

  it('esbuild, the files in a folder of their own', async () => {
    const folder = user.project('esbuild-folder', {
      'main.js': PAGE_PROGRAM.replace('probeAll()', "probeAll({ wasm: 'engine/' })"),
    });
    const out = path.join(folder, 'dist');
    await esbuild({
      entryPoints: [path.join(folder, 'main.js')],
      outdir: path.join(out, 'js'),
      bundle: true,
      format: 'esm',
      logLevel: 'silent',
    });
    copyFiles(user.dist, path.join(out, 'engine'));
    writeFileSync(path.join(out, 'index.html'), HTML.replace('./main.js', './js/main.js'));
    await checkSite(out);
  });

  it('esbuild without the files, which says what to copy', async () => {
    const folder = user.project('esbuild-bare');
    const out = path.join(folder, 'dist');
    await esbuild({
      entryPoints: [path.join(folder, 'main.js')],
      outdir: out,
      bundle: true,
      format: 'esm',
      logLevel: 'silent',
    });
    writePage(out);
    const { simd, chosen } = await resultsOfFolder(out, { isolated: false });
    assert.match(
      simd.failed,
      /HTTP 404[^]*tfcore-simd\.wasm of the package[^]*esbuild, Rollup: copy tfcore-\*\.wasm and tfcore-worker\.js/,
    );
    assert.match(chosen.failed, /tfcore-relaxed\.wasm of the package/);
  });

  it('Rollup', async () => {
    const folder = user.project('rollup');
    const load = createRequire(path.join(user.peers, 'package.json'));
    const { rollup } = load('rollup');
    const { nodeResolve } = load('@rollup/plugin-node-resolve');
    const warnings = [];
    const bundle = await rollup({
      input: path.join(folder, 'main.js'),
      plugins: [nodeResolve({ browser: true })],
      onwarn: (warning) => warnings.push(warning.message),
    });
    const out = path.join(folder, 'dist');
    await bundle.write({ dir: out, format: 'es' });
    await bundle.close();
    assert.deepEqual(warnings, []);
    copyFiles(user.dist, out);
    writePage(out);
    await checkSite(out);
  });

  it('Parcel', async () => {
    const folder = user.project('parcel');
    await runIn(folder, 'node', [
      path.join(user.peers, 'node_modules/parcel/lib/bin.js'),
      'build',
      'index.html',
      '--public-url',
      './',
      '--no-cache',
      '--no-autoinstall',
    ]);
    await checkSite(path.join(folder, 'dist'), { policy: false });
  });

  for (const bundler of ['turbopack', 'webpack']) {
    it(`Next, by ${bundler}`, async () => {
      const folder = user.project(`next-${bundler}`, {
        'next.config.mjs': `import recipe from './recipe.mjs';
export default { ...recipe, output: 'export', turbopack: { root: ${JSON.stringify(user.peers)} }, outputFileTracingRoot: ${JSON.stringify(user.peers)} };\n`,
        'recipe.mjs': recipe('next.config.mjs'),
        'app/layout.js': 'export default ({ children }) => <html><body>{children}</body></html>;\n',
        'app/page.js': recipe('app/page.js'),
        'model.js': MODEL.replace(
          'probeAll()',
          'probeAll().then((results) => (globalThis.results = results))',
        ),
      });
      await runIn(folder, 'node', [
        path.join(user.peers, 'node_modules/next/dist/bin/next'),
        'build',
        `--${bundler}`,
      ]);
      await checkSite(path.join(folder, 'out'), { below: false, policy: false });
    });
  }

  it("esbuild for Node, as a file with the package's files beside it", async () => {
    const folder = user.project('esbuild-node', {
      'main.js': `import { probeAll } from './probe.js';\nprobeAll().then((results) => console.log(JSON.stringify(results)));\n`,
    });
    const out = path.join(folder, 'dist');
    await esbuild({
      entryPoints: [path.join(folder, 'main.js')],
      outfile: path.join(out, 'main.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    copyFiles(user.dist, out);
    checkResults(
      JSON.parse(await runIn(folder, 'node', ['--experimental-wasm-relaxed-simd', 'dist/main.mjs'])),
      { variants: ALL },
    );
  });

  it('esbuild for Node, as one file of CommonJS with everything inside', async () => {
    const program = `import { probe } from './probe.js';\nprobe().then((result) => console.log(JSON.stringify({ chosen: result })));\n`;
    const folder = user.project('esbuild-inline', { 'main.js': program }, { entry: 'tfcore-wasm/inline' });
    await esbuild({
      entryPoints: [path.join(folder, 'main.js')],
      outfile: path.join(folder, 'dist/main.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
    });
    const { chosen } = JSON.parse(await runIn(folder, 'node', ['dist/main.cjs']));
    assert.deepEqual([chosen.variant, chosen.product, chosen.gradient], ['simd', true, 6]);
  });

  it('esbuild, a page as one file that is opened from the disk', async () => {
    const folder = user.project(
      'esbuild-file',
      { 'main.js': PAGE_PROGRAM.replaceAll('probeAll', 'probe') },
      { entry: 'tfcore-wasm/inline' },
    );
    const {
      outputFiles: [{ text }],
    } = await esbuild({
      entryPoints: [path.join(folder, 'main.js')],
      write: false,
      bundle: true,
      format: 'iife',
      logLevel: 'silent',
    });
    writeFileSync(
      path.join(folder, 'index.html'),
      `<!doctype html><title>probe</title><body><script>${text.replaceAll('</script', '<\\/script')}</script>`,
    );
    const { variant, product } = await resultsOf(`file://${folder}/index.html`);
    assert.deepEqual([variant, product], ['simd', true]);
  });

  it('nothing that is shipped waits at the top level, names a module of Node, or starts a worker in a form that bundlers misread', async () => {
    for (const name of readdirSync(user.dist).filter((file) => file.endsWith('.js') && file !== 'cli.js')) {
      const { metafile } = await esbuild({
        entryPoints: [path.join(user.dist, name)],
        bundle: true,
        write: false,
        metafile: true,
        format: 'iife',
        platform: 'browser',
        target: 'es2022',
        logLevel: 'silent',
      });
      /* The package's own files may import each other. */
      const imports = Object.values(metafile.inputs)
        .flatMap((input) => input.imports)
        .filter(({ original = '' }) => !original.startsWith('./'));
      assert.deepEqual(imports, [], name);
    }
    const entry = readFileSync(path.join(user.dist, 'index.js'), 'utf8');
    assert.deepEqual(entry.match(/new Worker\(new URL\([^)]*\)[^)]*\)/g), [
      'new Worker(new URL("./tfcore-worker.js",import.meta.url),{type:"module"})',
    ]);
  });
});
