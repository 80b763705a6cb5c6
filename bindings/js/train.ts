/** tf.train: optimizers, which add update ops to a graph. */
import { InvalidArgumentError } from './errors.js';
import type { Graph } from './graph.js';
import { Input, Operation, Output, Variable, valueOf } from './operation.js';
import type { TensorLike } from './tensor.js';

/** A number, or a scalar of the graph: a learning rate that is fed, say. */
export type Hyperparameter = number | Input;

export type GradientAndVariable = readonly [Output, Variable];

export abstract class Optimizer {
  /** The gradients of a loss with respect to `vars` (the graph's trainable variables); those that it does not depend on are left out. */
  computeGradients(loss: Input, vars?: readonly Variable[]): [Output, Variable][] {
    const { graph } = valueOf(loss);
    const variables = vars ?? graph.trainableVariables;
    const pairs = graph.gradients([loss], variables).flatMap((gradient, i): [Output, Variable][] => (gradient ? [[gradient, variables[i]!]] : []));
    if (pairs.length === 0) {
      throw new InvalidArgumentError(`No gradients provided for any variable: ${variables.map((variable) => variable.name).join(', ') || 'there are none'}`);
    }
    return pairs;
  }

  /** An operation that updates every variable once, and then adds 1 to `globalStep`. */
  applyGradients(gradsAndVars: readonly GradientAndVariable[], options: { globalStep?: Variable } = {}): Operation {
    if (gradsAndVars.length === 0) throw new InvalidArgumentError('No variables provided.');
    const graph = gradsAndVars[0]![1].handle.graph;
    const updates = this.update(graph, gradsAndVars);
    if (options.globalStep) {
      const one = graph.constant(1, { dtype: options.globalStep.dtype });
      updates.push(graph.op('AssignAddVariableOp', [options.globalStep.handle, one], { controlInputs: [...updates] }));
    }
    return graph.op('NoOp', [], { name: graph.uniqueName('train'), controlInputs: updates });
  }

  minimize(loss: Input, options: { vars?: readonly Variable[]; globalStep?: Variable } = {}): Operation {
    return this.applyGradients(this.computeGradients(loss, options.vars), options);
  }

  /** The update operations of this optimizer. */
  protected abstract update(graph: Graph, gradsAndVars: readonly GradientAndVariable[]): Operation[];

  /** A scalar of the variable's dtype; what is in the graph already stays. */
  protected scalar(graph: Graph, variable: Variable, value: Hyperparameter): Output {
    return typeof value === 'number' ? graph.constant(value, { dtype: variable.dtype }) : valueOf(value);
  }

  /** A variable beside `variable` that starts as `start` everywhere. */
  protected slot(graph: Graph, variable: Variable, name: string, start = 0): Variable {
    const shape = variable.shape;
    if (!shape || shape.includes(null)) throw new InvalidArgumentError(`variable ${variable.name} needs a known shape to be trained`);
    const filled = graph.op('Fill', [graph.constant(shape as TensorLike, { dtype: 'int32', shape: [shape.length] }), this.scalar(graph, variable, start)]);
    return graph.variable(filled.output(0), { name: graph.uniqueName(`${variable.name}/${name}`), trainable: false });
  }
}

export class GradientDescentOptimizer extends Optimizer {
  constructor(readonly learningRate: Hyperparameter) {
    super();
  }

  protected update(graph: Graph, gradsAndVars: readonly GradientAndVariable[]): Operation[] {
    return gradsAndVars.map(([gradient, variable]) =>
      graph.op('ResourceApplyGradientDescent', [variable.handle, this.scalar(graph, variable, this.learningRate), gradient]),
    );
  }
}

export class MomentumOptimizer extends Optimizer {
  constructor(readonly learningRate: Hyperparameter, readonly momentum: number, readonly options: { useNesterov?: boolean } = {}) {
    super();
  }

  protected update(graph: Graph, gradsAndVars: readonly GradientAndVariable[]): Operation[] {
    return gradsAndVars.map(([gradient, variable]) =>
      graph.op(
        'ResourceApplyMomentum',
        [
          variable.handle, this.slot(graph, variable, 'Momentum').handle, this.scalar(graph, variable, this.learningRate), gradient,
          this.scalar(graph, variable, this.momentum),
        ],
        { attrs: { use_nesterov: this.options.useNesterov ?? false } },
      ),
    );
  }
}

export class AdamOptimizer extends Optimizer {
  constructor(
    readonly learningRate: Hyperparameter = 0.001,
    readonly options: { beta1?: number; beta2?: number; epsilon?: number; useNesterov?: boolean } = {},
  ) {
    super();
  }

  protected update(graph: Graph, gradsAndVars: readonly GradientAndVariable[]): Operation[] {
    const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, useNesterov = false } = this.options;
    const first = gradsAndVars[0]![1];
    /* beta^t, which the correction of the moments' bias needs, is state of the optimizer. */
    const power1 = graph.variable(this.scalar(graph, first, beta1), { name: graph.uniqueName('beta1_power'), trainable: false });
    const power2 = graph.variable(this.scalar(graph, first, beta2), { name: graph.uniqueName('beta2_power'), trainable: false });
    const updates = gradsAndVars.map(([gradient, variable]) =>
      graph.op(
        'ResourceApplyAdam',
        [
          variable.handle, this.slot(graph, variable, 'Adam').handle, this.slot(graph, variable, 'Adam_1').handle, power1.value, power2.value,
          ...[this.learningRate, beta1, beta2, epsilon].map((value) => this.scalar(graph, variable, value)), gradient,
        ],
        { attrs: { use_nesterov: useNesterov } },
      ),
    );
    const advance = [[power1, beta1], [power2, beta2]] as const;
    const advances = advance.map(([power, beta]) => {
      const next = graph.op('Mul', [power.value, this.scalar(graph, power, beta)], { controlInputs: updates });
      return graph.op('AssignVariableOp', [power.handle, next.output(0)]);
    });
    return [...updates, ...advances];
  }
}
