/** Layer: one layer of a model while its operations are added to the graph. */
import { InvalidArgumentError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { Output } from '../graph/operation.js';
import { Variable } from '../graph/operation.js';
import { DType, dtypeOf, isDTypeName } from '../tensor/dtypes.js';
import { objectOr } from '../base/json.js';
import { Config, Json } from './json.js';
import { Ops, nodeName } from './ops.js';
import { Constant } from './python-json.js';
import type { WeightNode } from './weight-tree.js';

/** A value between layers, with its mask: true for what counts. */
export interface KerasTensor {
  readonly output: Output;
  readonly mask?: Output | undefined;
}

/** An argument of a call: values, constants, and lists and objects of them. */
export type Argument =
  | KerasTensor
  | Constant
  | string
  | number
  | boolean
  | null
  | readonly Argument[]
  | ArgumentObject;
export interface ArgumentObject {
  readonly [key: string]: Argument;
}

/** What a layer returns: a plain output gets the mask of the first input. */
export type Result = Output | KerasTensor | readonly KerasTensor[];
export type LayerFunction = (layer: Layer, call: Call) => Result;

export const isTensor = (value: unknown): value is KerasTensor =>
  typeof value === 'object' && value !== null && 'output' in value;

/** The values in an argument, in order; those of an object by their keys, as Keras sorts them. */
export function tensorsIn(value: Argument | undefined): KerasTensor[] {
  if (isTensor(value)) return [value];
  if (Array.isArray(value)) return (value as readonly Argument[]).flatMap(tensorsIn);
  if (typeof value === 'object' && value !== null)
    return Object.keys(value)
      .sort()
      .flatMap((key) => tensorsIn((value as ArgumentObject)[key]));
  return [];
}

/** The result of a layer after which no element is masked. */
export const unmasked = (output: Output): KerasTensor => ({ output });

/** Layers whose results have no mask. */
export const withoutMasks = (
  layers: Readonly<Record<string, LayerFunction>>,
): Record<string, LayerFunction> =>
  Object.fromEntries(
    Object.entries(layers).map(([name, use]): [string, LayerFunction] => [
      name,
      (layer, call) => unmasked(use(layer, call) as Output),
    ]),
  );

/** The arguments of one call of a layer. */
export class Call {
  constructor(
    readonly args: readonly Argument[],
    readonly kwargs: ArgumentObject = {},
  ) {}

  /** The values of the first argument. The masks may be an argument of their own. */
  get inputs(): KerasTensor[] {
    const inputs = tensorsIn(this.args[0]);
    const { mask } = this.kwargs;
    const masks = Array.isArray(mask) ? (mask as readonly Argument[]) : [mask];
    return inputs.map((input, i) => {
      const own = masks[i];
      return isTensor(own) ? { ...input, mask: own.output } : input;
    });
  }

  get input(): Output {
    return this.inputs[0]!.output;
  }

  get mask(): Output | undefined {
    return this.inputs[0]!.mask;
  }

  /** An argument by its name, or at its place. */
  argument(name: string, place: number): Argument | undefined {
    return this.kwargs[name] ?? this.args[place];
  }

  tensor(name: string, place: number): KerasTensor | undefined {
    return tensorsIn(this.argument(name, place))[0];
  }
}

/** What all layers of a model share. */
export interface ModelScope {
  readonly graph: Graph;
  /** Keras 3, not 2: some defaults and functions differ. */
  readonly isKeras3: boolean;
  /** The function of a layer, or of a model that is used as one. */
  readonly functionOf: (layer: Layer) => LayerFunction;
  /** The text of a file that a layer saved beside the weights, by its path; undefined if there is none. */
  readonly assetOf: (path: string) => string | undefined;
  /** The names of operations that fill tables, to be run once. */
  readonly initializers: string[];
  /** Variables that are no weights. */
  readonly states: Variable[];
}

/** The dtypes of a layer: of its values, and of its variables. */
function dtypesOf(policy: unknown): { values: DType; variables: DType } {
  const { config, name } = objectOr(policy, { name: policy });
  const text = String(objectOr(config).name ?? name ?? 'float32');
  const mixed = /^mixed_(b?float16)$/.exec(text);
  if (mixed) return { values: dtypeOf(mixed[1] as DType), variables: 'float32' };
  const dtype = isDTypeName(text) ? dtypeOf(text) : 'float32';
  return { values: dtype, variables: dtype };
}

export const nameOfLayer = (json: Json): string =>
  String(objectOr(json.config).name ?? json.name ?? json.class_name);

export class Layer extends Ops {
  readonly config: Config;
  /** Of its floating-point values. */
  readonly dtype: DType;
  readonly #variableDType: DType;
  readonly #variables = new Map<string, Variable>();
  readonly #children = new Map<string, Layer>();
  readonly #parts = new Map<string, WeightNode>();

  constructor(
    readonly model: ModelScope,
    /** { class_name, config }, as Keras describes a layer. */
    readonly json: Json,
    readonly node: WeightNode,
    /** Whether arguments are converted. Operations take them as they are. */
    private readonly converts = true,
  ) {
    super(model.graph, nodeName(node.name));
    this.config = new Config(
      objectOr(json.config),
      `layer ${nameOfLayer(json)} (${String(json.class_name)})`,
    );
    const { values, variables } = dtypesOf(this.config.value('dtype'));
    this.dtype = values;
    this.#variableDType = variables;
  }

  get name(): string {
    return nameOfLayer(this.json);
  }

  /** A weight in the dtype of the layer's values. It is made once. */
  weight(
    name: string,
    shape: readonly number[],
    options: { trainable?: boolean; dtype?: DType; node?: WeightNode } = {},
  ): Output {
    const { node = this.node, trainable = true, dtype = this.#variableDType } = options;
    const key = `${node.path}/${name}`;
    let variable = this.#variables.get(key);
    if (!variable) {
      variable = declareVariable(
        this.graph,
        `${node.name}/${name}`,
        shape,
        dtype,
        node.trainable && trainable,
      );
      this.#variables.set(key, variable);
      node.weights.push({ name, shape, variable });
    }
    const { value } = variable;
    return options.dtype ? value : this.cast(value, this.dtype);
  }

  /** A variable that is no weight: no file has it, and it begins with zeros. */
  state(name: string, shape: readonly number[]): Variable {
    const variable = declareVariable(this.graph, `${this.node.name}/${name}`, shape, this.dtype, false);
    this.model.states.push(variable);
    return variable;
  }

  /** The weights of a part that Keras has in an attribute of this layer. */
  part(attribute: string, name: string): WeightNode {
    let part = this.#parts.get(attribute);
    if (!part) this.#parts.set(attribute, (part = this.node.part(attribute, `${this.node.name}/${name}`)));
    return part;
  }

  /** The layer in an attribute of this one, described by `json`: 'cell', or 'cells/1' for one of a list. */
  child(attribute: string, json: Json): Layer {
    let child = this.#children.get(attribute);
    if (!child) {
      const name = `${this.node.name}/${nameOfLayer(json)}`;
      const trainable = objectOr(json.config).trainable !== false;
      const [, list] = /^(.*)\/\d+$/.exec(attribute) ?? [];
      const node =
        list === undefined
          ? this.node.part(attribute, name, trainable)
          : this.node.listed(list, String(json.class_name), name, trainable);
      child = new Layer(this.model, json, node);
      this.#children.set(attribute, child);
    }
    return child;
  }

  /** The values that the layer returns for a call. */
  call(call: Call): KerasTensor[] {
    const result = this.model.functionOf(this)(this, this.#converted(call));
    if (Array.isArray(result)) return [...(result as readonly KerasTensor[])];
    if (isTensor(result)) return [result];
    return [{ output: result as Output, mask: call.inputs[0]?.mask }];
  }

  /** The only value that it returns for `x`. */
  apply(x: Output): Output {
    return this.call(new Call([{ output: x }]))[0]!.output;
  }

  /** The elements of a constant, as they are and as numbers, and its shape. */
  numbersIn(value: unknown): { items: unknown[]; values: number[]; shape: number[] } {
    const items: unknown[] = Array.isArray(value) ? (value as unknown[]).flat(Infinity) : [value];
    const plain = items.map((item) => (item instanceof Constant ? item.value : item));
    if (!plain.every((item) => typeof item === 'number' || typeof item === 'boolean'))
      throw this.refuse('an argument is neither a value of the model nor a number');
    const shape = shapeOf(value);
    if (shape.reduce((a, b) => a * b, 1) !== plain.length)
      throw this.refuse('the lists in a constant have different lengths');
    return { items, values: plain.map(Number), shape };
  }

  /** Arrays among the arguments become values of the model. */
  #withConstants(value: Argument): Argument {
    if (Array.isArray(value)) return (value as Argument[]).map((item) => this.#withConstants(item));
    if (!(value instanceof Constant)) return value;
    const { dtype } = value;
    if (dtype === 'float') return value.value as number;
    const { values, shape } = this.numbersIn(value.value);
    const own = dtype !== undefined && isDTypeName(dtype) ? dtypeOf(dtype) : 'float32';
    return { output: this.constant(values, own, shape) };
  }

  /**
   * Floating-point inputs get the dtype of the layer. Operations take all arguments as they are: the dtypes of
   * constants depend on the other operands.
   */
  #converted(given: Call): Call {
    if (!this.converts) return given;
    const kwargs = Object.entries(given.kwargs).map(([name, value]) => [name, this.#withConstants(value)]);
    const call = new Call(
      given.args.map((value) => this.#withConstants(value)),
      Object.fromEntries(kwargs) as ArgumentObject,
    );
    const converted = (value: Argument): Argument => {
      if (isTensor(value)) {
        const isOther = /float/.test(value.output.dtype) && value.output.dtype !== this.dtype;
        return isOther ? { ...value, output: this.cast(value.output, this.dtype) } : value;
      }
      return Array.isArray(value) ? (value as Argument[]).map(converted) : value;
    };
    return /float/.test(this.dtype) ? new Call(call.args.map(converted), call.kwargs) : call;
  }

  refuse(why: string): InvalidArgumentError {
    return new InvalidArgumentError(`layer ${this.name} (${String(this.json.class_name)}): ${why}`);
  }
}

const shapeOf = (value: unknown): number[] =>
  Array.isArray(value) ? [value.length, ...(value.length > 0 ? shapeOf(value[0]) : [])] : [];

/** A variable that gets its value from the model's file. */
function declareVariable(
  graph: Graph,
  wanted: string,
  shape: readonly number[],
  dtype: DType,
  trainable: boolean,
): Variable {
  const name = graph.uniqueName(nodeName(wanted));
  const attrs = { dtype, shape: [...shape], shared_name: name };
  const handle = graph.op('VarHandleOp', [], { name, attrs }).output(0);
  const value = graph.op('ReadVariableOp', [handle], { name: `${name}/Read`, attrs: { dtype } }).output(0);
  graph.setShape(value, [...shape]);
  return new Variable(handle, { value }, trainable);
}
