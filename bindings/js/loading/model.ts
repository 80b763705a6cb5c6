/// <reference lib="esnext.disposable" preserve="true" />
/** Model: an opened model, with its graph, a session that holds its variables, and its signatures. */
import { Schema, checkOptions, checkReceivers, checkText, isPlainObject, shown } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { didYouMean } from '../base/did-you-mean.js';
import { InvalidArgumentError, NotFoundError, UnimplementedError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { Output, Variable } from '../graph/operation.js';
import type { Session } from '../session/session.js';
import { STEP_OPTIONS, StepOptions } from '../engine/step-queue.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import type { SaveFormat, SavedFiles } from './save-model.js';
import type { ModelOrigin, ModelTensor, Signature } from './signature.js';

export interface ModelRunOptions extends StepOptions {
  /** By default 'serving_default', or the first one. */
  signature?: string;
  /** The names of the outputs to compute; all of the signature by default. */
  outputs?: readonly string[];
  /** The results stay in the engine, as those of `session.run`. */
  keep?: boolean;
}

const RUN_OPTIONS: Schema<ModelRunOptions> = {
  signature: 'a string',
  outputs: 'an array',
  keep: 'true or false',
  ...STEP_OPTIONS,
};

/** The signature that programs call without a name. */
export const DEFAULT_SIGNATURE = 'serving_default';

export interface ModelSaveOptions {
  /**
   * 'SavedModel' (the default); 'checkpoint': a checkpoint with its MetaGraphDef; 'GraphDef': frozen, one
   * file.
   */
  format?: SaveFormat;
}

export class Model {
  /** Created by tf.load. */
  constructor(
    /** What it was read from: 'SavedModel', 'GraphDef', … */
    readonly format: string,
    readonly graph: Graph,
    readonly session: Session,
    readonly signatures: Readonly<Record<string, Signature>>,
    /** @internal */
    readonly origin: ModelOrigin,
  ) {}

  /** The signature that `run` calls without a name. */
  get #default(): Signature {
    const found = this.signatures[DEFAULT_SIGNATURE] ?? Object.values(this.signatures)[0];
    if (!found) throw new NotFoundError('the model has no signatures: run its graph with model.session');
    return found;
  }

  #signature(name: string | undefined): Signature {
    if (name === undefined) return this.#default;
    const names = Object.keys(this.signatures);
    const found = names.includes(name) ? this.signatures[name] : undefined;
    if (!found)
      throw new NotFoundError(
        `the model has no signature '${name}'${didYouMean(name, names)}; it has ${names.join(', ') || 'none'}`,
      );
    return found;
  }

  /** The inputs of the default signature. */
  get inputs(): readonly ModelTensor[] {
    return this.#default.inputs;
  }

  /** The outputs of the default signature. */
  get outputs(): readonly ModelTensor[] {
    return this.#default.outputs;
  }

  /** The variables of the model, and those that were added to its graph. */
  get variables(): Variable[] {
    const { unused } = this.origin;
    return this.graph.allVariables.filter(({ name }) => !unused?.has(name));
  }

  get trainableVariables(): Variable[] {
    return this.graph.trainableVariables;
  }

  /**
   * Calls a signature with values by the names of its inputs, or with the value of its only input. Returns
   * its outputs by name.
   */
  async run(
    inputs: Readonly<Record<string, TensorLike>> | TensorLike = {},
    options: ModelRunOptions = {},
  ): Promise<Record<string, Tensor>> {
    checkOptions<ModelRunOptions>('run', options, RUN_OPTIONS);
    const { signature: name, outputs: wanted, ...stepOptions } = options;
    const signature = this.#signature(name);
    if (signature.missing !== undefined)
      throw new UnimplementedError(`signature '${signature.name}' cannot be run. ${signature.missing}`);
    const outputs = wanted ? wanted.map((key) => tensorNamed(signature, 'outputs', key)) : signature.outputs;
    return this.session.run(
      Object.fromEntries(outputs.map((output) => [output.name, output.output])),
      feedsOf(signature, inputs),
      stepOptions,
    );
  }

  /**
   * The files of the model as it is now, by their paths: graph, signatures, and the variables of the session
   * with their slots. In Node they are written into `folder`, if that is given.
   */
  async save(folder?: string | ModelSaveOptions, options: ModelSaveOptions = {}): Promise<SavedFiles> {
    if (isPlainObject(folder)) return this.save(undefined, folder as ModelSaveOptions);
    checkOptions<ModelSaveOptions>('save', options, { format: 'a string' });
    const { filesOfModel, writeFiles } = await import('./model-formats.js');
    const files = await filesOfModel(this, options.format ?? 'SavedModel');
    if (folder !== undefined) {
      checkText('the folder of a model', folder);
      await writeFiles(folder, files);
    }
    return files;
  }

  /** Closes the session and frees the graph. */
  async close(): Promise<void> {
    await this.session.close();
    this.graph.dispose();
  }

  /** 'Model<SavedModel, signatures serving_default>' */
  toString(): string {
    return `Model<${this.format}, signatures ${Object.keys(this.signatures).join(', ') || 'none'}>`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** An input or output by its name in the signature, or in the graph. */
function tensorNamed(signature: Signature, kind: 'inputs' | 'outputs', key: string): ModelTensor {
  const list = signature[kind];
  const found =
    list.find(({ name }) => name === key) ??
    list.find(({ output }) => output.name === key || output.operation.name === key);
  if (found) return found;
  const names = list.map(({ name }) => name);
  throw new InvalidArgumentError(
    `signature '${signature.name}' has no ${kind.slice(0, -1)} '${key}'${didYouMean(key, names)}; its ${kind} are ${names.join(', ') || 'none'}`,
  );
}

function feedsOf(
  signature: Signature,
  given: Readonly<Record<string, TensorLike>> | TensorLike,
): [Output, TensorLike][] {
  const entries: [string, TensorLike][] = isPlainObject(given)
    ? Object.entries(given as Record<string, TensorLike>)
    : [[onlyInput(signature, given), given as TensorLike]];
  const feeds = entries.map(([key, value]): [ModelTensor, TensorLike] => [
    tensorNamed(signature, 'inputs', key),
    value,
  ]);
  const fed = new Set(feeds.map(([input]) => input));
  const missing = signature.inputs.filter(
    (input) => !fed.has(input) && input.output.operation.type !== 'PlaceholderWithDefault',
  );
  if (missing.length > 0)
    throw new InvalidArgumentError(
      `signature '${signature.name}' needs a value for ${missing.map(describe).join(', ')}`,
    );
  return feeds.map(([input, value]) => [input.output, value]);
}

function onlyInput(signature: Signature, given: unknown): string {
  const [first, ...others] = signature.inputs;
  if (first && others.length === 0) return first.name;
  throw new InvalidArgumentError(
    `signature '${signature.name}' takes its inputs by name, { ${signature.inputs.map(({ name }) => name).join(', ')} }, not ${shown(given)}`,
  );
}

const describe = ({ name, dtype, shape }: ModelTensor): string =>
  `${name} (${dtype} ${shape ? `[${shape.map((size) => size ?? '?').join(', ')}]` : 'of any shape'})`;

checkReceivers(Model, 'model');
showAs(Model, 'Model', (model) => model.toString());
