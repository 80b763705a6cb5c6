/** Writes models: as SavedModels, as checkpoints with a MetaGraphDef, and as frozen GraphDefs. */
import { FailedPreconditionError, InvalidArgumentError } from '../base/errors.js';
import { isNode, nodeModule } from '../base/host.js';
import { encodeText } from '../base/utf8.js';
import { Files } from '../engine/files.js';
import { Graph } from '../graph/graph.js';
import type { Output, Variable } from '../graph/operation.js';
import { MetaGraphDef, SavedModel, SignatureDef, TensorInfo, VariableDef } from '../messages/meta-graph.js';
import { freeze } from '../models/freeze.js';
import { Saver, checkpointName } from '../models/saver.js';
import { Session } from '../session/session.js';
import { dtypeNumber } from '../tensor/dtypes.js';
import type { Tensor } from '../tensor/tensor.js';
import { nameOf, readFile } from './model-files.js';
import type { ModelTensor, OpenModel, Signature } from './signature.js';

/** Contents by path. tf.load takes them. */
export type SavedFiles = Record<string, Uint8Array>;
export type SaveFormat = 'SavedModel' | 'checkpoint' | 'GraphDef';

/** The version of TensorFlow whose format this is. */
const TENSORFLOW_VERSION = '2.21.0';

let counter = 0;

/** The files of a checkpoint of variables with these values; their names begin with `name`. */
async function checkpointFiles(
  graph: Graph,
  vars: readonly Variable[],
  values: readonly Tensor[],
  name: string,
): Promise<SavedFiles> {
  const { runtime } = graph;
  const files = new Files(runtime);
  const folder = `ram://tfcore-save-${++counter}`;
  const writer = new Graph(runtime);
  const session = new Session(runtime, writer);
  try {
    const feeds = values.map((value) => writer.placeholder(value.dtype));
    const names = writer.constant(vars.map(checkpointName), { dtype: 'string', shape: [vars.length] });
    const slices = writer.constant(
      vars.map(() => ''),
      { dtype: 'string', shape: [vars.length] },
    );
    const save = writer.op('SaveV2', [writer.constant(`${folder}/${name}`), names, slices, feeds]);
    await session.run(
      [],
      feeds.map((feed, i) => [feed, values[i]!]),
      { targets: [save] },
    );
    return Object.fromEntries(files.list(`${folder}/`).map((path) => [nameOf(path), files.read(path)]));
  } finally {
    await session.close();
    writer.dispose();
    for (const path of files.list(`${folder}/`)) files.remove(path);
  }
}

/** Adds an initial value to variables that have none, such as those of TensorFlow 2. */
function initializerOf(graph: Graph, variable: Variable, value: Tensor): [assign: string, initial: string] {
  if (variable.hasInitializer) {
    const { initializer } = variable;
    return [initializer.name, initializer.inputs[1]!.name];
  }
  const dims = graph.constant([...value.shape], { dtype: 'int32', shape: [value.shape.length] });
  const zero = graph.constant(value.dtype === 'string' ? '' : 0, { dtype: value.dtype });
  const zeros = graph.op('Fill', [dims, zero]).output(0);
  return [variable.assign(zeros).name, zeros.name];
}

function variableDef(graph: Graph, variable: Variable, value: Tensor): Uint8Array {
  const [initializer, initialValue] = initializerOf(graph, variable, value);
  return VariableDef.encode({
    name: `${variable.name}:0`,
    initializer,
    snapshot: variable.isReference ? variable.read().name : variable.value.name,
    isResource: !variable.isReference,
    initialValue,
    trainable: variable.trainable,
  });
}

const infoOf = ({ output, shape }: ModelTensor): TensorInfo => ({
  name: output.name,
  dtype: dtypeNumber(output.dtype),
  shape,
});

const signatureDef = ({ inputs, outputs }: Signature): SignatureDef => ({
  inputs: new Map(inputs.map((input) => [input.name, infoOf(input)])),
  outputs: new Map(outputs.map((output) => [output.name, infoOf(output)])),
  methodName: 'tensorflow/serving/predict',
});

interface Saved {
  readonly metaGraph: Uint8Array;
  readonly vars: readonly Variable[];
  readonly values: readonly Tensor[];
}

/** The MetaGraphDef of a model: its graph, with operations that save and restore its variables. */
async function metaGraphOf(model: OpenModel): Promise<Saved> {
  const { graph, session } = model;
  const { runtime } = graph;
  const originals = model.variables;
  const values = originals.length > 0 ? await session.run(originals.map(({ value }) => value)) : [];
  const copy = new Graph(runtime);
  try {
    copy.importGraphDef(graph.toGraphDef());
    const byName = new Map(copy.allVariables.map((variable) => [variable.name, variable]));
    const vars = originals.map(({ name, trainable }) => Object.assign(byName.get(name)!, { trainable }));
    const defs = vars.map((variable, i) => variableDef(copy, variable, values[i]!));
    const saver = vars.length > 0 ? new Saver(copy, { vars }) : undefined;
    const { initializers, assets } = model.origin;
    const main =
      initializers.length > 0
        ? copy.op('NoOp', [], {
            name: copy.uniqueName('init_op'),
            controlInputs: initializers.map((name) => copy.requiredOperation(name)),
          })
        : undefined;
    const collections = new Map([
      ['variables', { messages: { value: defs } }],
      ['trainable_variables', { messages: { value: defs.filter((_, i) => vars[i]!.trainable) } }],
      ...(main ? [['saved_model_main_op', { names: { value: [main.name] } }] as const] : []),
    ] as const);
    const metaGraph = MetaGraphDef.encode({
      info: { tags: ['serve'], tensorflowVersion: TENSORFLOW_VERSION },
      graphDef: copy.toGraphDef(),
      ...(saver && {
        saver: {
          filenameTensor: saver.filename.name,
          saveTensor: saver.savedPath.name,
          restoreOp: saver.restoreOperation.name,
          maxToKeep: 5,
          version: 2,
        },
      }),
      collections,
      signatures: new Map(
        Object.values(model.signatures)
          .filter(({ missing }) => missing === undefined)
          .map((signature) => [signature.name, signatureDef(signature)]),
      ),
      assets: assets.map(({ tensor, path }) => ({ tensor: { name: tensor }, filename: nameOf(path) })),
    });
    return { metaGraph, vars: originals, values };
  } finally {
    copy.dispose();
  }
}

async function savedModelFiles(model: OpenModel): Promise<SavedFiles> {
  const { metaGraph, vars, values } = await metaGraphOf(model);
  const files: SavedFiles = {
    'saved_model.pb': SavedModel.encode({
      version: 1,
      metaGraphs: [MetaGraphDef.decode(metaGraph)],
    }),
  };
  if (vars.length > 0)
    for (const [name, bytes] of Object.entries(await checkpointFiles(model.graph, vars, values, 'variables')))
      files[`variables/${name}`] = bytes;
  for (const { path } of model.origin.assets)
    files[`assets/${nameOf(path)}`] = await readFile(model.origin.files!, path);
  return files;
}

async function checkpointOf(model: OpenModel): Promise<SavedFiles> {
  const { metaGraph, vars, values } = await metaGraphOf(model);
  if (vars.length === 0) throw new FailedPreconditionError('the model has no variables to save');
  return {
    'model.ckpt.meta': metaGraph,
    ...(await checkpointFiles(model.graph, vars, values, 'model.ckpt')),
    checkpoint: encodeText('model_checkpoint_path: "model.ckpt"\nall_model_checkpoint_paths: "model.ckpt"\n'),
  };
}

async function frozenOf(model: OpenModel): Promise<SavedFiles> {
  const outputs = new Set(model.outputs.map(({ output }): Output => output));
  return { 'frozen.pb': await freeze(model.session, [...outputs]) };
}

export async function filesOfModel(model: OpenModel, format: SaveFormat): Promise<SavedFiles> {
  switch (format) {
    case 'SavedModel':
      return savedModelFiles(model);
    case 'checkpoint':
      return checkpointOf(model);
    case 'GraphDef':
      return frozenOf(model);
    default:
      throw new InvalidArgumentError(
        `a model is saved as 'SavedModel', 'checkpoint' or 'GraphDef', not as '${String(format)}'`,
      );
  }
}

/** Writes the files into a folder of the machine; existing files are replaced. */
export async function writeFiles(folder: string, files: SavedFiles): Promise<void> {
  if (!isNode)
    throw new InvalidArgumentError(
      'a page cannot write folders: call save() without one, which returns the files',
    );
  const { mkdir, writeFile } = nodeModule('node:fs/promises');
  const { join, dirname } = nodeModule('node:path');
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}
