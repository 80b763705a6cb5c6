// Writes the JavaScript of the package: `node tools/bundle.mjs`, after the wasm builds. index.js has what most programs need,
// and imports other files when they are needed; those and testing.js share its classes. Every other file is self-contained.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { rollup } from 'rollup';
import { minify } from 'terser';
import { glueOf } from './glue.mjs';
import { root, runMain } from './process.mjs';

const sources = path.join(root, 'bindings/js');
const dist = path.join(root, 'npm/dist');

const PACKED = {
  wasm: (name) => path.join(root, `build/wasm-${name.split('-')[0]}/split/tfcore-${name}.wasm`),
  script: (name) => path.join(dist, `tfcore-${name}.js`),
};

/**
 * 'glue:single' and 'glue:threads' are Emscripten's JavaScript, 'wasm:<name>' is a .wasm that
 * tools/split-wasm.mjs wrote, and 'script:worker' the script of workers, compressed.
 */
const products = {
  name: 'products',
  setup(builder) {
    builder.onResolve({ filter: /^glue:/ }, ({ path: name }) => ({ path: name.slice(5), namespace: 'glue' }));
    builder.onLoad({ filter: /./, namespace: 'glue' }, ({ path: kind }) => ({
      contents: glueOf(kind),
    }));
    for (const [kind, place] of Object.entries(PACKED)) {
      builder.onResolve({ filter: new RegExp(`^${kind}:`) }, ({ path: name }) => ({
        path: name.slice(kind.length + 1),
        namespace: 'packed',
        pluginData: place(name.slice(kind.length + 1)),
      }));
    }
    builder.onLoad({ filter: /./, namespace: 'packed' }, ({ pluginData: file }) => ({
      contents: gzipSync(readFileSync(file), { level: 9 }).toString('base64'),
      loader: 'text',
    }));
  },
};

/** An entry with builds of its own: those of another file than engine/builds.ts. */
const buildsOf = (file) => ({
  name: 'builds',
  setup(builder) {
    builder.onResolve({ filter: /\/builds\.js$/ }, () => ({ path: path.join(sources, 'engine', file) }));
  },
});

/** Parcel would take the bare names as a request for Node's modules in the page. */
const define = { process: 'globalThis.process', Buffer: 'globalThis.Buffer' };

const OPTIONS = { target: 'es2022', define, legalComments: 'none' };

/** Shorter code, and its source map. Functions and classes keep their names, which errors and stack traces show. */
const shorten = (code, sourceMap) =>
  minify(code, {
    ecma: 2022,
    compress: { module: true, passes: 2 },
    mangle: { toplevel: false },
    format: { comments: false },
    sourceMap,
  });

/** What esbuild does for bundle() and the plugin `products`, as a plugin of rollup. */
const rollupPlugin = {
  name: 'typescript',
  resolveId(name, importer) {
    if (name.startsWith('glue:')) return name;
    const isSource = name.startsWith('.') && importer;
    return isSource ? path.resolve(path.dirname(importer), name.replace(/\.js$/, '.ts')) : undefined;
  },
  load: (id) => (id.startsWith('glue:') ? glueOf(id.slice('glue:'.length)) : undefined),
  transform: (code, id) =>
    transform(code, { ...OPTIONS, loader: 'ts', sourcefile: id, sourcemap: 'external' }),
  renderChunk: (code) => shorten(code, { asObject: true }),
};

/**
 * index.js, and the files that it imports on demand. esbuild would move what they share into a further file, which a page has to
 * fetch after index.js.
 */
async function bundleIndex() {
  const bundle = await rollup({
    input: path.join(sources, 'index.ts'),
    external: /^node:/,
    preserveEntrySignatures: 'allow-extension',
    plugins: [rollupPlugin],
  });
  await bundle.write({
    dir: dist,
    format: 'esm',
    sourcemap: true,
    sourcemapPathTransform: (source) => source.replace(/^.*(?=glue:)/, ''),
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => `${name.replace(/^glue_/, 'glue-')}.js`,
    minifyInternalExports: false,
  });
}

/** One file of the package. */
async function bundle(entry, output, options = {}) {
  const file = path.join(dist, output);
  const { outputFiles } = await build({
    entryPoints: [path.join(sources, entry)],
    outfile: file,
    bundle: true,
    format: 'esm',
    sourcemap: 'external',
    sourcesContent: true,
    write: false,
    logLevel: 'error',
    ...OPTIONS,
    ...options,
    plugins: [...(options.plugins ?? []), products],
  });
  const [content, text] = outputFiles.map((made) => made.text);
  const { code, map } = await shorten(text, {
    content,
    url: `${path.basename(output)}.map`,
    includeSources: true,
    asObject: true,
  });
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${code}\n`, { mode: code.startsWith('#!') ? 0o755 : 0o644 });
  writeFileSync(`${file}.map`, JSON.stringify(withoutPacked(map)));
}

/** The source map of a file with embedded wasm need not contain the wasm again. */
const withoutPacked = (map) => ({
  ...map,
  sourcesContent: map.sourcesContent.map((text, i) => (map.sources[i].startsWith('packed:') ? null : text)),
});

await runMain(async () => {
  await bundleIndex();
  await bundle('worker.ts', 'tfcore-worker.js', { format: 'iife', plugins: [buildsOf('builds-worker.ts')] });
  await bundle('inline.ts', 'inline.js', { plugins: [buildsOf('builds-inline.ts')] }); // contains the script
  await bundle('testing.ts', 'testing.js', { external: ['./index.js'] });
  await bundle('cli/main.ts', 'cli.js', { platform: 'node' });
  /* For the examples, which read TensorFlow's recorded answers; not shipped. */
  await bundle('messages/protobuf.ts', '../../build/js/protobuf.js');
  /* For tests, which speak to the service themselves. */
  await bundle('../../tests/js/service-entry.ts', '../../build/js/service.js');
});
