// TensorFlow.js beside this engine: the same models and the same values in both.
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
/** The modules share one tfjs-core: those of CommonJS do. */
const [core, layers, converter, wasm] = ['core', 'layers', 'converter', 'backend-wasm'].map((name) =>
  require(`@tensorflow/tfjs-${name}`),
);
require('@tensorflow/tfjs-backend-cpu');

/** TensorFlow.js on one of its backends, 'cpu' or 'wasm', with one thread. */
export async function peer(backend = 'cpu') {
  wasm.setWasmPaths(`${path.dirname(require.resolve('@tensorflow/tfjs-backend-wasm'))}/`);
  wasm.setThreadsCount(1);
  core.env().set('IS_TEST', true); // it prints no advice
  await core.setBackend(backend);
  await core.ready();
  return { ...core, layers, converter };
}

/** What tfjs calls the artifacts of a model, from its model.json and the bytes of its shards. */
export function artifactsOf(model, readShard) {
  const groups = model.weightsManifest;
  const bytes = Buffer.concat(groups.flatMap(({ paths }) => paths.map(readShard)));
  return {
    ...model,
    weightSpecs: groups.flatMap(({ weights }) => weights),
    weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  };
}

/** A tensor of this engine in tfjs, which has fewer dtypes: all integers are int32. */
export function peerTensor(tfjs, { dtype, shape, data }) {
  const own = /int/.test(dtype) ? 'int32' : dtype;
  const values = own === 'int32' ? Int32Array.from(data, Number) : data;
  return tfjs.tensor(own === 'bool' || own === 'string' ? [...values] : values, shape, own);
}

/**
 * The largest difference of two lists of numbers, divided by the largest number of the second. NaN if the
 * lengths differ or a value is no number in one list alone.
 */
export function relativeDifference(found, wanted) {
  if (found.length !== wanted.length) return Number.NaN;
  let [largest, most] = [0, 0];
  for (let i = 0; i < wanted.length; i++) {
    const [a, b] = [Number(found[i]), Number(wanted[i])];
    if (Number.isFinite(b)) largest = Math.max(largest, Math.abs(b));
    if (!Object.is(a, b)) most = Math.max(most, Math.abs(a - b));
  }
  return most === 0 ? 0 : most / largest;
}
