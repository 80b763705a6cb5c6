// Shared by the surveys: records of TensorFlow in the user's cache folder (tests/oracle/surveys/).
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const CACHE = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'tfcore-wasm/surveys');

/** The models of a survey, [{ name, folder, record }]; undefined if nobody has recorded it. */
export function modelsOf(survey) {
  const root = path.join(CACHE, survey);
  if (!existsSync(root)) return undefined;
  return readdirSync(root)
    .map((name) => ({ name, folder: path.join(root, name) }))
    .filter(({ folder }) => existsSync(path.join(folder, 'record.json')))
    .map((model) => ({
      ...model,
      record: JSON.parse(readFileSync(path.join(model.folder, 'record.json'), 'utf8')),
    }));
}

const bytesOf = (text) => new Uint8Array(Buffer.from(text, 'base64'));

/** A recorded value as a tensor. */
export function tensorOf(tf, { dtype, shape, values }) {
  if (dtype === 'string') return tf.tensor(values.map(bytesOf), shape, 'string');
  if (dtype === 'bool') return tf.tensor(values.map(Boolean), shape, 'bool');
  if (/64$/.test(dtype) && dtype.includes('int')) return tf.tensor(values.map(BigInt), shape, dtype);
  return tf.tensor(values.map(Number), shape, dtype);
}

/** The data of 16-bit floats are their bits. */
const numbersOf = (tensor) =>
  /^(half|float16|bfloat16)$/.test(tensor.dtype)
    ? [tensor.array()].flat(Infinity)
    : [...tensor.data].map(Number);

/** Gradients that are zero are numbers of this size at most, by rounding. */
const ROUNDING = 1e-6;

/** What is wrong with a result; undefined if it is the recorded one within 1e-4 of its largest value. */
export function difference(tensor, { dtype, shape, values }) {
  if (tensor.dtype !== dtype || String(tensor.shape) !== String(shape))
    return `${tensor.dtype} [${tensor.shape}] in place of ${dtype} [${shape}]`;
  if (dtype === 'string') {
    const found = [...tensor.data].map((text) => Buffer.from(text).toString('base64'));
    const at = found.findIndex((text, i) => text !== values[i]);
    return at < 0 ? undefined : `string ${at} differs`;
  }
  const [found, wanted] = [numbersOf(tensor), values.map(Number)];
  const size = wanted.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
  const isFloat = /float|complex/.test(dtype) ? 1 : 0;
  const limit = dtype.includes('16') ? 1e-2 : 1e-4;
  const at = wanted.findIndex((x, i) =>
    Number.isFinite(x)
      ? !(Math.abs(found[i] - x) <= Math.max(limit * size, isFloat * ROUNDING))
      : !Object.is(found[i], x),
  );
  return at < 0 ? undefined : `value ${at} is ${found[at]} in place of ${wanted[at]}`;
}

/**
 * Runs `check(model)` for each model, which throws what is wrong. Says how many pass and which fail, and fails below
 * `share` of them.
 */
export function survey(name, share, check) {
  const models = modelsOf(name);
  it('compute what TensorFlow computes', async function () {
    this.timeout(1_200_000);
    if (!models) {
      console.log(
        `      skipped: \`python3 tests/oracle/surveys/${name}.py\` records what this compares with`,
      );
      this.skip();
    }
    const failures = [];
    for (const model of models) {
      try {
        await check(model);
      } catch (error) {
        failures.push(
          `${model.name}: ${String(error.message ?? error)
            .split('\n')[0]
            .slice(0, 240)}`,
        );
      }
    }
    const passed = models.length - failures.length;
    console.log(`      ${passed} of ${models.length}`);
    for (const failure of failures) console.log(`      not ${failure}`);
    if (passed < share * models.length) throw new Error(`only ${passed} of ${models.length} pass`);
  });
}
