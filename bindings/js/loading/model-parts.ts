/** ModelParts: what the readers of formats find in a model's files, before a graph is made of it. */
import type { Runtime } from '../engine/runtime.js';
import type { KerasOptions } from '../keras/custom-layers.js';
import type { Assignment } from '../keras/keras-model.js';
import type { ObjectNode, SignatureDef } from '../messages/meta-graph.js';
import { ModelFiles, joined } from './model-files.js';

/** How the variables of a graph get their values: a checkpoint, and the operation that reads it. */
export interface Restore {
  /** The tensor that is fed the checkpoint's prefix, and the operation to run. */
  readonly filenameTensor: string;
  readonly operation: string;
  /** The checkpoint's prefix among the model's files. */
  readonly prefix: string;
}

/** A variable that a function of TensorFlow 2 uses. */
export interface CapturedVariable {
  readonly isTrained: boolean;
  /** Its index among the model's objects. */
  readonly object: number;
}

/** A file that an operation of the graph reads, such as a vocabulary. */
export interface Asset {
  /** The tensor that is fed the file's path. */
  readonly tensor: string;
  readonly path: string;
}

/** A serialised GraphDef that is not read or made yet: one with weights is best written into the engine, and nowhere else. */
export interface GraphDefPieces {
  /** The bytes of all pieces, or some more; undefined while they are not known. */
  readonly size: number | undefined;
  pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface ModelParts {
  /** Where the checkpoint and the assets are, if not among the files that were read: those of an archive. */
  readonly files?: ModelFiles;
  /** 'SavedModel', 'GraphDef', ... */
  readonly format: string;
  readonly graphDef: Uint8Array | string | GraphDefPieces;
  /** By name; empty if the format has none. The tensors of each are in the order that the model has for the user. */
  readonly signatures: ReadonlyMap<string, SignatureDef>;
  readonly restore?: Restore | undefined;
  readonly assets?: readonly Asset[];
  /** Operations to run once, after the restore. */
  readonly initializers?: readonly string[];
  /** Whether a variable is trained, by its name; undefined: the model does not say. */
  readonly trainable?: ReadonlyMap<string, boolean> | undefined;
  /**
   * Of TensorFlow 2's functions: the captured values, which are the last inputs of a call; undefined for those that
   * are no variables.
   */
  readonly captures?: ReadonlyMap<string, readonly (CapturedVariable | undefined)[]>;
  /** Of TensorFlow 2's programs: the objects, by their indexes. */
  readonly objects?: readonly ObjectNode[] | undefined;
  /** Values of variables that are not in a checkpoint. */
  readonly assignments?: readonly Assignment[];
  /** Frees what the values are read from. */
  readonly close?: () => void;
}

/** A GraphDef as bytes or text. */
export const contentOfGraphDef = async (graphDef: ModelParts['graphDef']): Promise<Uint8Array | string> =>
  isInPieces(graphDef) ? joined(graphDef.pieces(), graphDef.size) : graphDef;

export const isInPieces = (graphDef: ModelParts['graphDef']): graphDef is GraphDefPieces =>
  typeof graphDef === 'object' && 'pieces' in graphDef;

/** Reads one format. */
export interface FormatOptions {
  /** Of a SavedModel with several MetaGraphs. */
  readonly tags: readonly string[] | undefined;
  /** The engine in which graphs of Keras models are built. */
  readonly runtime: Runtime;
  readonly keras: KerasOptions | undefined;
  /** The module that reads HDF5 files. */
  readonly hdf5: (() => unknown) | undefined;
}
export type FormatReader = (files: ModelFiles, path: string, options: FormatOptions) => Promise<ModelParts>;
