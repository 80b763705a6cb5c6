/** tf.train: optimizers, which add update ops to a graph. */
import { Schema, checkList, checkOptions, checkReceivers, shown } from '../base/arguments.js';
import type { AttrInput } from '../messages/attr-value.js';
import type { DType } from '../tensor/dtypes.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { Graph } from './graph.js';
import { Input, Operation, Output, Variable, checkInput, valueOf } from './operation.js';
import type { TensorLike } from '../tensor/tensor.js';

/** A number, or a scalar of the graph, such as a fed learning rate. */
export type Hyperparameter = number | Input;

export type GradientAndVariable = readonly [Output, Variable];

export interface ApplyOptions {
  /** Counts the steps. */
  globalStep?: Variable;
  /** The operation's name; by default the optimizer's. */
  name?: string;
}

const APPLY_OPTIONS: Schema<ApplyOptions> = { globalStep: 'anything', name: 'a string' };
const MINIMIZE_OPTIONS: Schema<ApplyOptions & { vars: readonly Variable[] }> = {
  ...APPLY_OPTIONS,
  vars: 'an array',
};

function checkVariable(what: string, value: unknown): asserts value is Variable {
  if (!(value instanceof Variable))
    throw new InvalidArgumentError(
      `${what} must be a Variable, which graph.variable makes, not ${shown(value)}`,
    );
}

function checkRate(rate: unknown): void {
  if (typeof rate !== 'number') checkInput(rate, 'the learning rate is a number or a scalar of the graph');
}

function checkPair(pair: unknown, i: number): asserts pair is GradientAndVariable {
  const what = `gradsAndVars[${i}]`;
  if (!Array.isArray(pair) || pair.length !== 2)
    throw new InvalidArgumentError(`${what} must be a pair [gradient, variable], not ${shown(pair)}`);
  checkVariable(`the second of ${what}`, pair[1]);
  const variable: Variable = pair[1];
  if (pair[0] === null)
    throw new InvalidArgumentError(`${what}: no gradient flows to variable ${variable.name}; leave it out`);
  if (!(pair[0] instanceof Output))
    throw new InvalidArgumentError(`the first of ${what} must be an Output, not ${shown(pair[0])}`);
}

export abstract class Optimizer {
  private readonly slots = new Map<string, Map<Variable, Variable>>();

  /** `name` is TensorFlow's name: it prefixes the operations and variables of the optimizer. */
  constructor(readonly name: string) {}

  /**
   * The gradients of a loss with respect to `vars` (default: the graph's trainable variables); variables that
   * do not influence the loss are left out.
   */
  computeGradients(loss: Input, vars?: readonly Variable[]): [Output, Variable][] {
    checkInput(loss, 'the loss');
    const { graph } = valueOf(loss);
    if (vars !== undefined) {
      checkList('vars', vars);
      for (const [i, variable] of vars.entries()) checkVariable(`vars[${i}]`, variable);
    }
    const variables = vars ?? graph.trainableVariables;
    const pairs = graph
      .gradients([loss], variables)
      .flatMap((gradient, i): [Output, Variable][] => (gradient ? [[gradient, variables[i]!]] : []));
    if (pairs.length === 0) {
      throw new InvalidArgumentError(
        `No gradients provided for any variable: ${variables.map((variable) => variable.name).join(', ') || 'there are none'}`,
      );
    }
    return pairs;
  }

  /** An operation that updates every variable once, and then adds 1 to `globalStep`. */
  applyGradients(gradsAndVars: readonly GradientAndVariable[], options: ApplyOptions = {}): Operation {
    checkList('gradsAndVars', gradsAndVars);
    checkOptions<ApplyOptions>('applyGradients', options, APPLY_OPTIONS);
    if (gradsAndVars.length === 0) throw new InvalidArgumentError('No variables provided.');
    for (const [i, pair] of gradsAndVars.entries()) checkPair(pair, i);
    if (options.globalStep !== undefined)
      checkVariable("option 'globalStep' of applyGradients", options.globalStep);
    const graph = gradsAndVars[0]![1].handle.graph;
    const updates = gradsAndVars.map(([gradient, variable]) => this.update(graph, variable, gradient));
    updates.push(...this.finish(graph, updates));
    if (options.globalStep) {
      const one = graph.constant(1, { dtype: options.globalStep.dtype });
      updates.push(
        graph.op(
          options.globalStep.isReference ? 'AssignAdd' : 'AssignAddVariableOp',
          [options.globalStep.handle, one],
          { controlInputs: [...updates] },
        ),
      );
    }
    return graph.op('NoOp', [], {
      name: options.name ?? graph.uniqueName(this.name),
      controlInputs: updates,
    });
  }

  minimize(loss: Input, options: ApplyOptions & { vars?: readonly Variable[] } = {}): Operation {
    checkOptions<Partial<typeof options>>('minimize', options, MINIMIZE_OPTIONS);
    const { vars, ...rest } = options;
    return this.applyGradients(this.computeGradients(loss, vars), rest);
  }

  /** The names of the slots, which are the variables kept for each trained variable: 'momentum', 'm', ... */
  getSlotNames(): string[] {
    return [...this.slots.keys()].sort();
  }

  /** The slot of that name for a variable, after the optimizer was applied to it. */
  getSlot(variable: Variable, slotName: string): Variable | null {
    checkVariable('what getSlot takes', variable);
    return this.slots.get(slotName)?.get(variable) ?? null;
  }

  /**
   * The variables that the optimizer made: its slots and others. They have no values before
   * `graph.initializer(optimizer.variables)` has run.
   */
  get variables(): Variable[] {
    return [...this.slots.values()].flatMap((slots) => [...slots.values()]);
  }

  /** The operation that updates one variable. */
  protected abstract update(graph: Graph, variable: Variable, gradient: Output): Operation;

  /** The operations after all updates of a step. */
  protected finish(_graph: Graph, _updates: readonly Operation[]): Operation[] {
    return [];
  }

  /** Adds 'ResourceApplyAdam', or for a reference variable 'ApplyAdam'. The variable is the first input. */
  protected apply(
    graph: Graph,
    name: string,
    variable: Variable,
    inputs: readonly Output[],
    attrs: Record<string, AttrInput> = {},
  ): Operation {
    const type = variable.isReference ? name : `Resource${name}`;
    return graph.op(type, [variable.handle, ...inputs], { attrs });
  }

  /** A scalar of a dtype. A scalar of the graph is used directly. */
  protected scalar(graph: Graph, dtype: DType, value: Hyperparameter): Output {
    if (typeof value === 'number') return graph.constant(value, { dtype });
    checkInput(value, 'a number or a scalar of the graph is wanted');
    const output = valueOf(value);
    return output.dtype === dtype ? output : graph.op('Cast', [output], { attrs: { DstT: dtype } }).output(0);
  }

  protected scalars(graph: Graph, variable: Variable, ...values: Hyperparameter[]): Output[] {
    return values.map((value) => this.scalar(graph, variable.dtype, value));
  }

  /** The slot of a variable; created on first use and filled with `start`. */
  protected slot(graph: Graph, variable: Variable, slotName: string, start = 0): Output {
    const slots = this.slots.get(slotName) ?? new Map<Variable, Variable>();
    this.slots.set(slotName, slots);
    let slot = slots.get(variable);
    if (!slot) {
      const shape = variable.shape;
      if (!shape || shape.includes(null))
        throw new InvalidArgumentError(`variable ${variable.name} needs a known shape to be trained`);
      const dims = graph.constant(shape as TensorLike, { dtype: 'int32', shape: [shape.length] });
      const filled = graph.op('Fill', [dims, this.scalar(graph, variable.dtype, start)]);
      slot = graph.addVariable(filled.output(0), {
        name: graph.uniqueName(`${variable.name}/${this.name}`),
        trainable: false,
        isReference: variable.isReference,
      });
      slots.set(variable, slot);
    }
    return slot.handle;
  }
}

export class GradientDescentOptimizer extends Optimizer {
  constructor(readonly learningRate: Hyperparameter) {
    super('GradientDescent');
    checkRate(learningRate);
  }

  protected update(graph: Graph, variable: Variable, gradient: Output): Operation {
    return this.apply(graph, 'ApplyGradientDescent', variable, [
      ...this.scalars(graph, variable, this.learningRate),
      gradient,
    ]);
  }
}

/** Slot: momentum. */
export class MomentumOptimizer extends Optimizer {
  constructor(
    readonly learningRate: Hyperparameter,
    readonly momentum: Hyperparameter,
    readonly options: { useNesterov?: boolean } = {},
  ) {
    super('Momentum');
    checkRate(learningRate);
    checkOptions<typeof options>('MomentumOptimizer', options, { useNesterov: 'true or false' });
  }

  protected update(graph: Graph, variable: Variable, gradient: Output): Operation {
    const [rate, momentum] = this.scalars(graph, variable, this.learningRate, this.momentum);
    return this.apply(
      graph,
      'ApplyMomentum',
      variable,
      [this.slot(graph, variable, 'momentum'), rate!, gradient, momentum!],
      { use_nesterov: this.options.useNesterov ?? false },
    );
  }
}

/** Slot: accumulator. */
export class AdagradOptimizer extends Optimizer {
  constructor(
    readonly learningRate: Hyperparameter,
    readonly options: { initialAccumulatorValue?: number } = {},
  ) {
    super('Adagrad');
    checkRate(learningRate);
    checkOptions<typeof options>('AdagradOptimizer', options, { initialAccumulatorValue: 'a number' });
    requirePositive('initialAccumulatorValue', options.initialAccumulatorValue);
  }

  protected update(graph: Graph, variable: Variable, gradient: Output): Operation {
    const accumulator = this.slot(
      graph,
      variable,
      'accumulator',
      this.options.initialAccumulatorValue ?? 0.1,
    );
    return this.apply(graph, 'ApplyAdagrad', variable, [
      accumulator,
      ...this.scalars(graph, variable, this.learningRate),
      gradient,
    ]);
  }
}

/** Slots: accum and accum_update. */
export class AdadeltaOptimizer extends Optimizer {
  constructor(
    readonly learningRate: Hyperparameter = 0.001,
    readonly options: { rho?: Hyperparameter; epsilon?: Hyperparameter } = {},
  ) {
    super('Adadelta');
    checkRate(learningRate);
    checkOptions<typeof options>('AdadeltaOptimizer', options, { rho: 'anything', epsilon: 'anything' });
  }

  protected update(graph: Graph, variable: Variable, gradient: Output): Operation {
    const { rho = 0.95, epsilon = 1e-8 } = this.options;
    const slots = ['accum', 'accum_update'].map((name) => this.slot(graph, variable, name));
    return this.apply(graph, 'ApplyAdadelta', variable, [
      ...slots,
      ...this.scalars(graph, variable, this.learningRate, rho, epsilon),
      gradient,
    ]);
  }
}

/** Slots: rms, initially 1, mg if centered, and momentum. */
export class RMSPropOptimizer extends Optimizer {
  constructor(
    readonly learningRate: Hyperparameter,
    readonly options: {
      decay?: Hyperparameter;
      momentum?: Hyperparameter;
      epsilon?: Hyperparameter;
      centered?: boolean;
    } = {},
  ) {
    super('RMSProp');
    checkRate(learningRate);
    checkOptions<typeof options>('RMSPropOptimizer', options, {
      decay: 'anything',
      momentum: 'anything',
      epsilon: 'anything',
      centered: 'true or false',
    });
  }

  protected update(graph: Graph, variable: Variable, gradient: Output): Operation {
    const { decay = 0.9, momentum = 0, epsilon = 1e-10, centered = false } = this.options;
    const rms = this.slot(graph, variable, 'rms', 1);
    const rest = [...this.scalars(graph, variable, this.learningRate, decay, momentum, epsilon), gradient];
    if (!centered)
      return this.apply(graph, 'ApplyRMSProp', variable, [
        rms,
        this.slot(graph, variable, 'momentum'),
        ...rest,
      ]);
    const mean = this.slot(graph, variable, 'mg');
    return this.apply(graph, 'ApplyCenteredRMSProp', variable, [
      mean,
      rms,
      this.slot(graph, variable, 'momentum'),
      ...rest,
    ]);
  }
}

/** Slots: accum and linear. Its l1 makes weights exactly zero; with l2Shrinkage it is FTRL version 2. */
export class FtrlOptimizer extends Optimizer {
  constructor(
    readonly learningRate: Hyperparameter,
    readonly options: {
      learningRatePower?: number;
      initialAccumulatorValue?: number;
      l1RegularizationStrength?: number;
      l2RegularizationStrength?: number;
      l2ShrinkageRegularizationStrength?: number;
    } = {},
  ) {
    super('Ftrl');
    checkRate(learningRate);
    checkOptions<typeof options>('FtrlOptimizer', options, {
      learningRatePower: 'a number',
      initialAccumulatorValue: 'a number',
      l1RegularizationStrength: 'a number',
      l2RegularizationStrength: 'a number',
      l2ShrinkageRegularizationStrength: 'a number',
    });
    const { learningRatePower = -0.5, ...others } = options;
    if (!(learningRatePower <= 0))
      throw new InvalidArgumentError(`learningRatePower ${learningRatePower} needs to be negative or zero`);
    for (const [name, value] of Object.entries(others)) {
      if (value !== undefined && !(value >= 0))
        throw new InvalidArgumentError(`${name} ${value} needs to be positive or zero`);
    }
  }

  protected update(graph: Graph, variable: Variable, gradient: Output): Operation {
    const {
      learningRatePower = -0.5,
      initialAccumulatorValue = 0.1,
      l1RegularizationStrength = 0,
      l2RegularizationStrength = 0,
      l2ShrinkageRegularizationStrength = 0,
    } = this.options;
    const slots = [
      this.slot(graph, variable, 'accum', initialAccumulatorValue),
      this.slot(graph, variable, 'linear'),
    ];
    const shrinkage = l2ShrinkageRegularizationStrength > 0 ? [l2ShrinkageRegularizationStrength] : [];
    const scalars = this.scalars(
      graph,
      variable,
      this.learningRate,
      l1RegularizationStrength,
      l2RegularizationStrength,
      ...shrinkage,
      learningRatePower,
    );
    return this.apply(graph, shrinkage.length > 0 ? 'ApplyFtrlV2' : 'ApplyFtrl', variable, [
      ...slots,
      gradient,
      ...scalars,
    ]);
  }
}

/** Slots: m and v. */
export class AdamOptimizer extends Optimizer {
  /* beta1^t and beta2^t, for the correction of the moments' bias. They advance once per step, whatever is
   * trained in it. */
  private readonly powers = new WeakMap<Graph, [Variable, Variable]>();

  constructor(
    readonly learningRate: Hyperparameter = 0.001,
    readonly options: {
      beta1?: Hyperparameter;
      beta2?: Hyperparameter;
      epsilon?: Hyperparameter;
      useNesterov?: boolean;
    } = {},
  ) {
    super('Adam');
    checkRate(learningRate);
    checkOptions<typeof options>('AdamOptimizer', options, {
      beta1: 'anything',
      beta2: 'anything',
      epsilon: 'anything',
      useNesterov: 'true or false',
    });
  }

  override get variables(): Variable[] {
    const graphs = new Set(super.variables.map((variable) => variable.handle.graph));
    return [...super.variables, ...[...graphs].flatMap((graph) => this.powers.get(graph) ?? [])];
  }

  private get betas(): [Hyperparameter, Hyperparameter] {
    return [this.options.beta1 ?? 0.9, this.options.beta2 ?? 0.999];
  }

  protected update(graph: Graph, variable: Variable, gradient: Output): Operation {
    const power = (i: 0 | 1): Variable =>
      graph.variable(this.scalar(graph, variable.dtype, this.betas[i]), {
        name: graph.uniqueName(`beta${i + 1}_power`),
        trainable: false,
      });
    const powers = this.powers.get(graph) ?? [power(0), power(1)];
    this.powers.set(graph, powers);
    const slots = ['m', 'v'].map((name) => this.slot(graph, variable, name));
    const { epsilon = 1e-8, useNesterov = false } = this.options;
    const scalars = this.scalars(graph, variable, ...powers, this.learningRate, ...this.betas, epsilon);
    return this.apply(graph, 'ApplyAdam', variable, [...slots, ...scalars, gradient], {
      use_nesterov: useNesterov,
    });
  }

  protected override finish(graph: Graph, updates: readonly Operation[]): Operation[] {
    return this.powers.get(graph)!.map((power, i) => {
      const next = graph.op('Mul', [power.value, this.scalar(graph, power.dtype, this.betas[i]!)], {
        controlInputs: updates,
      });
      return graph.op('AssignVariableOp', [power.handle, next.output(0)]);
    });
  }
}

function requirePositive(name: string, value: number | undefined): void {
  if (value !== undefined && !(value > 0))
    throw new InvalidArgumentError(`${name} must be positive: ${value}`);
}

for (const Class of [
  Optimizer,
  GradientDescentOptimizer,
  MomentumOptimizer,
  AdagradOptimizer,
  AdadeltaOptimizer,
  RMSPropOptimizer,
  FtrlOptimizer,
  AdamOptimizer,
]) {
  checkReceivers(Class, 'optimizer');
}
