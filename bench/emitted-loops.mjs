// Runs c/fused.c in this Node: `node bench/emitted-loops.mjs [milliseconds per tree [part of a name]]`.
import path from 'node:path';
import { buildWasm } from '../tools/build.mjs';
import { runMain } from '../tools/process.mjs';
import { setUp } from '../tools/setup.mjs';

await runMain(async () => {
  const folder = await buildWasm(await setUp(), 'simd', ['bench_fused']);
  const { default: load } = await import(path.join(folder, 'bench_fused.mjs'));
  await load({ arguments: process.argv.slice(2) });
});
