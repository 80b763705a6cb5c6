/** Finds the value of each weight of a built model in one of Keras' layouts. */
import { DataLossError } from '../base/errors.js';
import type { Variable } from '../graph/operation.js';
import type { DType } from '../tensor/dtypes.js';
import { tensor } from '../tensor/convert.js';
import { Tensor } from '../tensor/tensor.js';
import type { BuiltModel } from './build-model.js';
import type { Hdf5File } from './hdf5.js';
import type { LayerWeight, WeightNode } from './weight-tree.js';

/** A variable, and the value that it gets. */
export interface WeightValue {
  readonly variable: Variable;
  read(): Tensor;
}

const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((size, i) => size === b[i]);

/** Files may have another dtype than Keras' variables: TensorFlow.js has no int64. */
function asDType(value: Tensor, dtype: DType): Tensor {
  if (value.dtype === dtype) return value;
  const numbers = Array.from(value.data as Float32Array, Number);
  return tensor(dtype === 'int64' ? BigInt64Array.from(numbers, BigInt) : numbers, value.shape, dtype);
}

/** The value, which must have the shape that the architecture demands. */
function valueOf(
  place: string,
  { variable, shape }: LayerWeight,
  where: string,
  find: () => Tensor | undefined,
): WeightValue {
  const { name, dtype } = variable;
  const read = (): Tensor => {
    const found = find();
    if (!found) throw new DataLossError(`${place} has no weight ${where} for variable ${name}`);
    if (!same(found.shape, shape))
      throw new DataLossError(
        `${place}: weight ${where} has the shape [${found.shape.join(', ')}], but variable ${name} has [${shape.join(', ')}]`,
      );
    return asDType(found, dtype);
  };
  return { variable, read };
}

/** Of model.weights.h5: layers/dense/vars/0. Late Keras 2 has another name for the layers of a model. */
export function valuesByPath(place: string, model: BuiltModel, file: Hdf5File): WeightValue[] {
  const isOld =
    file.keys('layers') === undefined && file.keys('_layer_checkpoint_dependencies') !== undefined;
  const pathOf = (path: string): string =>
    isOld ? path.replace(/(^|\/)layers(?=\/)/g, '$1_layer_checkpoint_dependencies') : path;
  const visit = (node: WeightNode): WeightValue[] => [
    ...node.weights.map((weight, i) => {
      const path = `${pathOf(node.path)}/vars/${i}`;
      return valueOf(place, weight, path, () => file.read(path));
    }),
    ...node.children.flatMap(visit),
  ];
  return visit(model.weights);
}

/** Of a whole-model HDF5 file: by the order of the weights of each layer. */
export function valuesByOrder(place: string, model: BuiltModel, file: Hdf5File): WeightValue[] {
  return [...model.layers].flatMap(([name, node]) => {
    const weights = node.inSavedOrder();
    if (weights.length === 0) return [];
    const group = `model_weights/${name}`;
    const names = file.texts(group, 'weight_names');
    if (!names) throw new DataLossError(`${place} has no weights for layer ${name}`);
    if (names.length !== weights.length)
      throw new DataLossError(
        `${place} has ${names.length} weights for layer ${name}, which needs ${weights.length}`,
      );
    return weights.map((weight, i) => {
      const path = `${group}/${names[i]!}`;
      return valueOf(place, weight, path, () => file.read(path));
    });
  });
}

const partsOf = (name: string): string[] => name.replace(/:\d+$/, '').split('/');

/** How many parts of a weight's path a name has, in their order; 0 if it is not of that layer. */
function likeness(parts: readonly string[], wanted: readonly string[]): number {
  const [weight, layer] = [wanted.at(-1)!, wanted[wanted.length - 2]!];
  if (parts.at(-1) !== weight) return 0;
  const common = wanted.filter((part) => parts.includes(part)).length;
  return parts.includes(layer) || common > 1 ? common : 0;
}

/** Of a layers model of TensorFlow.js: by names like dense/kernel. */
export function valuesByName(
  place: string,
  model: BuiltModel,
  found: ReadonlyMap<string, Tensor>,
): WeightValue[] {
  const names = new Map([...found.keys()].map((name) => [name, partsOf(name)]));
  return model.weights.all().map((weight): WeightValue => {
    const wanted = partsOf(weight.variable.name);
    let [best, most] = [undefined as string | undefined, 0];
    for (const [name, parts] of names) {
      const score = same(found.get(name)!.shape, weight.shape) ? likeness(parts, wanted) : 0;
      if (score > most) [best, most] = [name, score];
    }
    if (best !== undefined) names.delete(best);
    return valueOf(place, weight, wanted.join('/'), () => (best === undefined ? undefined : found.get(best)));
  });
}
