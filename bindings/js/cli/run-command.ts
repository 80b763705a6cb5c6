/** `tfcore-wasm run`: a model's outputs for given inputs. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Graph } from '../graph/graph.js';
import { init } from '../init.js';
import { DEFAULT_SIGNATURE, Model } from '../loading/model.js';
import type { ModelTensor, Signature } from '../loading/signature.js';
import type { DType } from '../tensor/dtypes.js';
import type { Output } from '../graph/operation.js';
import { tensor } from '../tensor/convert.js';
import { NestedArray, Tensor, TensorLike } from '../tensor/tensor.js';
import { columns } from '../base/columns.js';
import { Command, CommandError, shapeText } from './command-line.js';
import { TAGS_OPTION, openModel, readFile, writeFile } from './model-file.js';
import { readNpy, writeNpy } from './npy.js';

/** The signature to run: as named, or the default one; undefined if the model has none of that name. */
function signatureOf(model: Model, name: string | undefined): Signature {
  const names = Object.keys(model.signatures);
  const found =
    model.signatures[name ?? DEFAULT_SIGNATURE] ??
    (name === undefined ? Object.values(model.signatures)[0] : undefined);
  if (found) return found;
  throw new CommandError(`--signature ${name}: the model has ${names.join(', ') || 'no signatures'}`);
}

/** An input or output by its name in the signature, or in the graph. */
function outputOf(graph: Graph, list: readonly ModelTensor[], name: string, what: string): Output {
  const named = list.find((tensor) => tensor.name === name);
  if (named) return named.output;
  try {
    return graph.output(name);
  } catch (error) {
    throw new CommandError(`${what} ${name}: the graph has no such output: ${(error as Error).message}`);
  }
}

/** Values as JSON: numbers, strings, true and false, nested arrays. */
function parseValue(text: string, place: string): TensorLike {
  try {
    return JSON.parse(text) as TensorLike;
  } catch {
    throw new CommandError(`${place}: '${text}' is neither a .npy file nor a value in JSON`, 2);
  }
}

/** A value of uniform random numbers in [0, 1), or of integers from 0 to 9. */
function randomValue(shapeOf: string, dtype: DType, place: string): Tensor {
  const shape = shapeOf === '' ? [] : shapeOf.split(',').map(Number);
  if (!shape.every((size) => Number.isInteger(size) && size >= 0))
    throw new CommandError(
      `${place}: random[${shapeOf}] needs the sizes of all dimensions, such as random[1,224,224,3]`,
      2,
    );
  const count = shape.reduce((product, size) => product * size, 1);
  const isWhole = /int/.test(dtype);
  try {
    const next = () => (isWhole ? Math.floor(10 * Math.random()) : Math.random());
    return tensor(Array.from({ length: count }, next), shape, dtype);
  } catch (error) {
    throw new CommandError(`${place}: ${(error as Error).message}`);
  }
}

function readFeed(graph: Graph, inputs: readonly ModelTensor[], given: string): [Output, Tensor] {
  const split = given.indexOf('=');
  if (split <= 0)
    throw new CommandError(`--feed ${given}: a name, '=' and a .npy file or a value are needed`, 2);
  const [name, source] = [given.slice(0, split), given.slice(split + 1)];
  const output = outputOf(graph, inputs, name, '--feed');
  const place = `--feed ${name}`;
  const [, sizes] = /^random\[([\d,\s]*)\]$/.exec(source) ?? [];
  if (sizes !== undefined) return [output, randomValue(sizes.replace(/\s/g, ''), output.dtype, place)];
  if (!source.endsWith('.npy')) {
    const value = parseValue(source, place);
    try {
      return [output, tensor(value, undefined, output.dtype)];
    } catch (error) {
      throw new CommandError(`${place}: ${(error as Error).message}`);
    }
  }
  const fed = readNpy(readFile(source), source);
  if (fed.dtype === output.dtype) return [output, fed];
  if (output.dtype === 'bfloat16' && fed.dtype === 'float32')
    return [output, tensor(fed, fed.shape, 'bfloat16')];
  throw new CommandError(
    `${place}: the graph wants ${output.dtype}, ${source} holds ${fed.dtype} (in NumPy: array.astype('${output.dtype}'))`,
  );
}

/** Prints nested arrays on several lines, one per row; long ones are truncated in the middle. */
function valueText(value: NestedArray, indent = ''): string {
  if (!Array.isArray(value)) return scalarText(value);
  const cut = value.length > 12 ? [...value.slice(0, 6), undefined, ...value.slice(-3)] : value;
  const items = cut.map((item) => (item === undefined ? '…' : valueText(item as NestedArray, `${indent} `)));
  const flat = value.every((item) => !Array.isArray(item));
  return `[${items.join(flat ? ', ' : `,\n${indent} `)}]`;
}

function scalarText(value: unknown): string {
  if (typeof value === 'number')
    return Number.isInteger(value) || !Number.isFinite(value)
      ? String(value)
      : String(Number(value.toPrecision(7)));
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (typeof value === 'object' && value !== null) {
    const { re, im } = value as { re: number; im: number };
    return `${scalarText(re)}${im < 0 || Object.is(im, -0) ? '-' : '+'}${scalarText(Math.abs(im))}i`;
  }
  return String(value);
}

/** JSON has no infinity and NaN. */
const plain = (_: string, value: unknown): unknown =>
  typeof value === 'bigint'
    ? String(value)
    : typeof value === 'number' && !Number.isFinite(value)
      ? String(value)
      : value;

const fileOf = (name: string): string => `${name.replace(/:0$/, '').replace(/[^\w.-]+/g, '_')}.npy`;

export const runCommand: Command = {
  summary: 'Runs a model: feeds values, fetches others.',
  words: ['model.pb'],
  options: {
    feed: {
      value: 'x=in.npy',
      repeats: true,
      help: 'the value of an input: a .npy file, JSON such as x=[[1,2]], or x=random[1,3]',
    },
    fetch: {
      value: 'y',
      repeats: true,
      help: "what to compute, 'node' or 'node:1'; commas or more --fetch for several; by default the model's outputs",
    },
    target: {
      value: 'op',
      repeats: true,
      help: 'an operation to run that yields nothing, such as an initialiser; before the fetches',
    },
    signature: { value: 'name', help: 'which function of the model gives inputs and outputs their names' },
    tags: TAGS_OPTION,
    out: { value: 'dir', help: 'writes each output into dir, as .npy' },
    trace: {
      value: 'out.json',
      help: 'records when each node runs: writes a trace for Perfetto, and prints the ops by time',
    },
    json: { help: 'prints the outputs as JSON, by name' },
  },
  async run(args, write) {
    const [file] = args.words as [string];
    const tf = await init();
    const model = await openModel(tf, file, args);
    const { graph, session } = model;
    const { inputs, outputs } = signatureOf(model, args.one('signature'));
    const feeds = new Map(args.all('feed').map((given) => readFeed(graph, inputs, given)));
    const given = args
      .all('fetch')
      .flatMap((list) => list.split(','))
      .filter((name) => name !== '');
    const names = given.length > 0 ? given : outputs.map(({ name }) => name);
    if (names.length === 0)
      throw new CommandError('the model has no outputs: --fetch says what to compute', 2);
    const fetches = names.map((name) => outputOf(graph, outputs, name, '--fetch'));
    for (const target of args.all('target')) await session.run([], undefined, { targets: [target] });
    const traceFile = args.one('trace');
    const trace = traceFile === undefined ? undefined : new tf.Trace();
    const results = (await session.run(fetches, feeds, trace ? { trace } : {})) as Tensor[];
    await model.close();
    const folder = args.one('out');
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      const rows = results.map((result, i) => {
        const to = path.join(folder, fileOf(names[i]!));
        writeFile(to, writeNpy(result));
        return [names[i]!, result.dtype, shapeText(result.shape), to];
      });
      write(columns(rows));
    } else if (args.flags.has('json')) {
      write(
        `${JSON.stringify(Object.fromEntries(results.map((result, i) => [names[i]!, result.array()])), plain)}\n`,
      );
    } else {
      write(
        results
          .map(
            (result, i) =>
              `${names[i]}  ${result.dtype} ${shapeText(result.shape)}\n${valueText(result.array())}\n`,
          )
          .join('\n'),
      );
    }
    if (trace && traceFile !== undefined) {
      writeFile(traceFile, JSON.stringify(trace.chromeTrace()));
      if (!args.flags.has('json')) write(`\n${trace.table()}`);
    }
    return 0;
  },
};
