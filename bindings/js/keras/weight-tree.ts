/** WeightNode: the weights of a model, by its layers and their parts, as Keras saves them. */
import type { Variable } from '../graph/operation.js';

export interface LayerWeight {
  readonly name: string;
  readonly shape: readonly number[];
  readonly variable: Variable;
}

/** Conv2DTranspose -> conv2d_transpose: Keras names the layers of a list by their classes. */
const snakeCase = (name: string): string =>
  (name === 'GroupQueryAttention' ? 'GroupedQueryAttention' : name) // whose public name is another one
    .replace(/\W+/g, '')
    .replace(/(.)([A-Z][a-z]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();

export class WeightNode {
  readonly weights: LayerWeight[] = [];
  readonly children: WeightNode[] = [];
  readonly #counts = new Map<string, number>();

  constructor(
    /** As in the names of variables. */
    readonly name: string,
    /** Keras' path: the attributes that lead here from the model. */
    readonly path: string,
    /** False also if a layer around it is not trained. */
    readonly trainable: boolean,
  ) {}

  /** The part that Keras has in an attribute of that name. */
  part(attribute: string, name: string, trainable = true): WeightNode {
    return this.#add(attribute, name, trainable);
  }

  /** The next layer of a list in an attribute. */
  listed(attribute: string, className: string, name: string, trainable = true): WeightNode {
    const base = `${attribute}/${snakeCase(className)}`;
    const count = this.#counts.get(base) ?? 0;
    this.#counts.set(base, count + 1);
    return this.#add(count === 0 ? base : `${base}_${count}`, name, trainable);
  }

  #add(attribute: string, name: string, trainable: boolean): WeightNode {
    const path = this.path === '' ? attribute : `${this.path}/${attribute}`;
    const node = new WeightNode(name, path, this.trainable && trainable);
    this.children.push(node);
    return node;
  }

  /** All weights, in the order of the layers. */
  all(): LayerWeight[] {
    return [...this.weights, ...this.children.flatMap((child) => child.all())];
  }

  /** The trained weights, followed by the others: the order in whole-model HDF5 files. */
  inSavedOrder(): LayerWeight[] {
    const all = this.all();
    return [
      ...all.filter(({ variable }) => variable.trainable),
      ...all.filter(({ variable }) => !variable.trainable),
    ];
  }
}
