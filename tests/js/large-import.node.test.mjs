// A graph of a million nodes: in a process of its own, so that nothing else has made the memory grow.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const NODES = 1_000_000;

/** A GraphDef of a placeholder and a chain of Identity operations, as bytes. */
function chainOf(nodes) {
  const text = (field, value) => [field << 3 | 2, value.length, ...Buffer.from(value)];
  const attr = (key) => [0x2a, key.length + 6, ...text(1, key), 0x12, 2, 0x30, 1];
  const bytes = Buffer.alloc(nodes * 64);
  let at = 0;
  for (let i = 0; i < nodes; i++) {
    const node = i === 0
      ? [...text(1, 'node_0'), ...text(2, 'Placeholder'), ...attr('dtype')]
      : [...text(1, `node_${i}`), ...text(2, 'Identity'), ...text(3, `node_${i - 1}`), ...attr('T')];
    at = bytes.writeUInt8(node.length, bytes.writeUInt8(0x0a, at));
    bytes.set(node, at);
    at += node.length;
  }
  return new Uint8Array(bytes.buffer, 0, at);
}

if (process.argv[2] === 'import') {
  const { init } = await import('../../npm/dist/index.js');
  const tf = await init({ variant: 'simd' });
  const bytes = chainOf(NODES);
  const graph = new tf.Graph();
  const started = performance.now();
  graph.importGraphDef(bytes);
  const seconds = (performance.now() - started) / 1000;
  const { wasmBytes } = tf.memory();
  const copy = graph.toGraphDef();
  const last = graph.output(`node_${NODES - 1}`).name;
  graph.dispose();
  const { liveBytes } = tf.memory();
  process.stdout.write(JSON.stringify({ bytes: bytes.length, seconds, wasmBytes, exported: copy.length, last, liveBytes }));
} else {
  describe('a graph of 1,000,000 nodes', function () {
    this.timeout(120_000);

    it('is imported with at most ten bytes of memory for each of its own', () => {
      const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'import'], { encoding: 'utf8' });
      const { bytes, seconds, wasmBytes, exported, last, liveBytes } = JSON.parse(out);
      console.log(`      ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s with ${(wasmBytes / 1e6).toFixed(0)} MB, ${(wasmBytes / bytes).toFixed(1)} bytes a byte`);
      assert.ok(wasmBytes <= 10 * bytes, `${wasmBytes} bytes of memory for a graph of ${bytes}`);
      assert.ok(exported >= bytes, 'all of it is exported'); // versions are added
      assert.equal(last, `node_${NODES - 1}:0`);
      assert.ok(liveBytes < 1e5, `${liveBytes} bytes live on`);
    });
  });
}
