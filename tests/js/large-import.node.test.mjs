// A graph of a million nodes: in a separate process, so that nothing else has grown the memory.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const NODES = 1_000_000;
const SIZE = 46_777_774; // bytes, in binary
const FORMATS = ['binary', 'text'];

/** A GraphDef of a placeholder and a chain of Identity operations, as bytes. */
function chainOf(nodes) {
  const text = (field, value) => [(field << 3) | 2, value.length, ...Buffer.from(value)];
  const attr = (key) => [0x2a, key.length + 6, ...text(1, key), 0x12, 2, 0x30, 1];
  const bytes = Buffer.alloc(nodes * 64);
  let at = 0;
  for (let i = 0; i < nodes; i++) {
    const node =
      i === 0
        ? [...text(1, 'node_0'), ...text(2, 'Placeholder'), ...attr('dtype')]
        : [...text(1, `node_${i}`), ...text(2, 'Identity'), ...text(3, `node_${i - 1}`), ...attr('T')];
    at = bytes.writeUInt8(node.length, bytes.writeUInt8(0x0a, at));
    bytes.set(node, at);
    at += node.length;
  }
  return new Uint8Array(bytes.buffer, 0, at);
}

/** The same in text format. */
function textOf(nodes) {
  const attr = (key) => `attr { key: "${key}" value { type: DT_FLOAT } }`;
  const lines = [`node { name: "node_0" op: "Placeholder" ${attr('dtype')} }`];
  for (let i = 1; i < nodes; i++)
    lines.push(`node { name: "node_${i}" op: "Identity" input: "node_${i - 1}" ${attr('T')} }`);
  return lines.join('\n');
}

/** Imports in this process, and prints what it took. */
async function importHere(source) {
  const { init } = await import('../../npm/dist/index.js');
  const tf = await init({ variant: 'simd' });
  const graph = new tf.Graph();
  const started = performance.now();
  graph.importGraphDef(source);
  const seconds = (performance.now() - started) / 1000;
  const { wasmBytes } = tf.memory();
  const exported = graph.toGraphDef().length;
  const last = graph.output(`node_${NODES - 1}`).name;
  graph.dispose();
  process.stdout.write(
    JSON.stringify({
      bytes: source.length,
      seconds,
      wasmBytes,
      exported,
      last,
      liveBytes: tf.memory().liveBytes,
    }),
  );
}

if (FORMATS.includes(process.argv[2])) {
  await importHere(process.argv[2] === 'text' ? textOf(NODES) : chainOf(NODES));
} else {
  describe('a graph of 1,000,000 nodes', function () {
    this.timeout(120_000);

    for (const format of FORMATS) {
      it(`is imported with at most ten bytes of memory for each of its own: ${format}`, () => {
        const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), format], {
          encoding: 'utf8',
        });
        const { bytes, seconds, wasmBytes, exported, last, liveBytes } = JSON.parse(out);
        console.log(
          `      ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s with ${(wasmBytes / 1e6).toFixed(0)} MB, ${(wasmBytes / bytes).toFixed(1)} bytes a byte`,
        );
        assert.ok(wasmBytes <= 10 * bytes, `${wasmBytes} bytes of memory for a graph of ${bytes}`);
        assert.ok(exported >= SIZE, 'all of it is exported'); // versions are added
        assert.equal(last, `node_${NODES - 1}:0`);
        assert.ok(liveBytes < 1e5, `${liveBytes} bytes live on`);
      });
    }
  });
}
