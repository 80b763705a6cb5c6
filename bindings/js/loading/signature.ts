/** The functions of an opened model, and what it consists of. */
import type { Graph } from '../graph/graph.js';
import type { Output, Variable } from '../graph/operation.js';
import type { Session } from '../session/session.js';
import type { DType } from '../tensor/dtypes.js';
import type { ModelFiles } from './model-files.js';
import type { Asset } from './model-parts.js';

/** An input or an output of a signature. */
export interface ModelTensor {
  /** Its name in the signature. */
  readonly name: string;
  readonly output: Output;
  readonly dtype: DType;
  /** null for an unknown rank; null inside for an unknown size. */
  readonly shape: (number | null)[] | null;
}

/** A function of the model. */
export interface Signature {
  readonly name: string;
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** Why it cannot be run: the ops that it needs and that are not here. */
  readonly missing?: string;
}

/** What of the files a model goes on to need. */
export interface ModelOrigin {
  /** Operations to run once, after variables are restored. */
  readonly initializers: readonly string[];
  readonly assets: readonly Asset[];
  /** Where the assets are. */
  readonly files?: ModelFiles;
  /** The names of variables that no signature uses. */
  readonly unused?: ReadonlySet<string>;
}

/** A model as it is saved. */
export interface OpenModel {
  readonly graph: Graph;
  readonly session: Session;
  readonly signatures: Readonly<Record<string, Signature>>;
  readonly outputs: readonly ModelTensor[];
  readonly variables: readonly Variable[];
  readonly origin: ModelOrigin;
}
