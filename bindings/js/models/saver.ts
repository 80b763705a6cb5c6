/** tf.train.Saver: checkpoints of a graph's variables. */
import { checkList, checkOptions, checkReceivers, checkText, shown } from '../base/arguments.js';
import { InvalidArgumentError } from '../base/errors.js';
import { Graph } from '../graph/graph.js';
import { Operation, Output, Variable } from '../graph/operation.js';
import type { Session } from '../session/session.js';
import { tensor } from '../tensor/convert.js';

export interface SaverOptions {
  /** Which variables; by default all of the graph. */
  vars?: readonly Variable[];
  /** The prefix of the names of its operations: 'save'. */
  name?: string;
}

export interface SaveOptions {
  /** Added to the path: 'model.ckpt' becomes 'model.ckpt-100'. */
  globalStep?: number | bigint;
}

/** The name of a variable in a checkpoint: the one that its handles share, else that of its node. */
export const checkpointName = ({ handle, name }: Variable): string =>
  String(handle.operation.attr('shared_name')) || name;

/**
 * Adds operations to a graph that save its variables and restore them, in TensorFlow's format. Files are those
 * of `tf.files`.
 */
export class Saver {
  /** The path, which is fed; and what TensorFlow's SaverDef names. */
  readonly filename: Output;
  readonly savedPath: Output;
  readonly restoreOperation: Operation;
  /** The variables, in the order of their names. */
  readonly vars: readonly Variable[];

  constructor(
    readonly graph: Graph,
    options: SaverOptions = {},
  ) {
    if (!(graph instanceof Graph))
      throw new InvalidArgumentError(
        `a Saver is made for a Graph: new tf.train.Saver(graph), not ${shown(graph)}`,
      );
    checkOptions<SaverOptions>('Saver', options, { vars: 'an array', name: 'a string' });
    const given = options.vars ?? graph.allVariables;
    checkList('vars', given);
    for (const [i, variable] of given.entries())
      if (!(variable instanceof Variable))
        throw new InvalidArgumentError(`vars[${i}] must be a Variable, not ${shown(variable)}`);
    if (given.length === 0) throw new InvalidArgumentError('No variables to save');
    const named = given.map((variable): [string, Variable] => [checkpointName(variable), variable]);
    named.sort(([a], [b]) => (a < b ? -1 : 1));
    this.vars = named.map(([, variable]) => variable);
    const scope = uniquePrefix(graph, options.name ?? 'save');
    const texts = (name: string, values: readonly string[]): Output =>
      graph.constant(tensor([...values], [values.length], 'string'), { name: `${scope}/${name}` });
    const names = named.map(([name]) => name);
    this.filename = graph
      .op('PlaceholderWithDefault', [tensor('model', [], 'string')], {
        name: `${scope}/Const`,
        attrs: { shape: [] },
      })
      .output(0);
    this.savedPath = this.#addSave(scope, texts, names);
    this.restoreOperation = this.#addRestore(scope, texts, names);
  }

  #addSave(scope: string, texts: MakeTexts, names: readonly string[]): Output {
    const { graph, vars, filename } = this;
    const inputs = [
      filename,
      texts('SaveV2/tensor_names', names),
      texts(
        'SaveV2/shape_and_slices',
        names.map(() => ''),
      ),
    ];
    const save = graph.op('SaveV2', [...inputs, vars.map((variable) => variable.value)], {
      name: `${scope}/SaveV2`,
    });
    return graph
      .op('Identity', [filename], { name: `${scope}/control_dependency`, controlInputs: [save] })
      .output(0);
  }

  #addRestore(scope: string, texts: MakeTexts, names: readonly string[]): Operation {
    const { graph, vars, filename } = this;
    const inputs = [
      filename,
      texts('RestoreV2/tensor_names', names),
      texts(
        'RestoreV2/shape_and_slices',
        names.map(() => ''),
      ),
    ];
    const restore = graph.op('RestoreV2', inputs, {
      name: `${scope}/RestoreV2`,
      attrs: { dtypes: vars.map(({ dtype }) => dtype) },
    });
    const assigns = vars.map((variable, i) =>
      graph.op(variable.isReference ? 'Assign' : 'AssignVariableOp', [variable.handle, restore.output(i)], {
        name: `${scope}/Assign${i === 0 ? '' : `_${i}`}`,
      }),
    );
    return graph.op('NoOp', [], { name: `${scope}/restore_all`, controlInputs: assigns });
  }

  /** Writes a checkpoint with the session's values. Returns its path, which `restore` takes. */
  async save(session: Session, path: string, options: SaveOptions = {}): Promise<string> {
    checkText('the path of a checkpoint', path);
    checkOptions<SaveOptions>('save', options, { globalStep: 'anything' });
    const full = options.globalStep === undefined ? path : `${path}-${options.globalStep}`;
    await session.run(this.savedPath, [[this.filename, full]]);
    return full;
  }

  /** Gives the session's variables the values of a checkpoint. */
  async restore(session: Session, path: string): Promise<void> {
    checkText('the path of a checkpoint', path);
    await session.run([], [[this.filename, path]], { targets: [this.restoreOperation] });
  }
}

type MakeTexts = (name: string, values: readonly string[]) => Output;

/** Unused: 'save', 'save_1', … */
function uniquePrefix(graph: Graph, name: string): string {
  for (let i = 0; ; i++) {
    const prefix = i === 0 ? name : `${name}_${i}`;
    if (!graph.operation(`${prefix}/Const`) && !graph.operation(`${prefix}/restore_all`)) return prefix;
  }
}

checkReceivers(Saver, 'saver');
