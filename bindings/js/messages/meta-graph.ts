/** TensorFlow's messages of saved models: SavedModel, MetaGraphDef, SignatureDef, SavedObjectGraph. */
import {
  BOOL,
  INT32,
  INT32_LIST,
  Kind,
  MessageOf,
  MessageType,
  RAW,
  TENSOR,
  TEXT,
  list,
  map,
  message,
} from './message-type.js';
import type { MessageWriter } from './protobuf.js';
import { ShapeLike, decodeShape, writeShape } from './tensor-proto.js';

/** TensorShapeProto; undefined if it is absent. */
const SHAPE: Kind<ShapeLike | undefined> = {
  write(writer: MessageWriter, number, value) {
    if (value !== undefined) writer.message(number, () => writeShape(writer, value));
  },
  read: ({ bytes }) => decodeShape(bytes),
  absent: () => undefined,
};

const CooSparse = new MessageType({ values: [1, TEXT], indices: [2, TEXT], denseShape: [3, TEXT] });

/** A component of a composite value is a TensorInfo, which is not decoded here. */
const Composite = new MessageType({ components: [2, list(RAW)] });

export const TensorInfo = new MessageType({
  name: [1, TEXT],
  dtype: [2, INT32],
  shape: [3, SHAPE],
  sparse: [4, message(CooSparse)],
  composite: [5, message(Composite)],
});
export type TensorInfo = Partial<MessageOf<typeof TensorInfo>>;

export const SignatureDef = new MessageType({
  inputs: [1, map(message(TensorInfo))],
  outputs: [2, map(message(TensorInfo))],
  methodName: [3, TEXT],
  defaults: [4, map(TENSOR)],
});
export type SignatureDef = Partial<MessageOf<typeof SignatureDef>>;

const Texts = new MessageType({ value: [1, list(TEXT)] });
const Messages = new MessageType({ value: [1, list(RAW)] });
const Any = new MessageType({ typeUrl: [1, TEXT], value: [2, RAW] });
const Anys = new MessageType({ value: [1, list(message(Any))] });
const CollectionDef = new MessageType({
  names: [1, message(Texts)],
  messages: [2, message(Messages)],
  anys: [5, message(Anys)],
});

/** A variable in the collections of TensorFlow 1. */
export const VariableDef = new MessageType({
  name: [1, TEXT],
  initializer: [2, TEXT],
  snapshot: [3, TEXT],
  isResource: [5, BOOL],
  initialValue: [6, TEXT],
  trainable: [7, BOOL],
});
export type VariableDef = MessageOf<typeof VariableDef>;

export const SaverDef = new MessageType({
  filenameTensor: [1, TEXT],
  saveTensor: [2, TEXT],
  restoreOp: [3, TEXT],
  maxToKeep: [4, INT32],
  sharded: [5, BOOL],
  version: [7, INT32],
});

const MetaInfo = new MessageType({
  tags: [4, list(TEXT)],
  tensorflowVersion: [5, TEXT],
});

export const AssetFile = new MessageType({ tensor: [1, message(TensorInfo)], filename: [2, TEXT] });

const SavedVariable = new MessageType({
  dtype: [1, INT32],
  shape: [2, SHAPE],
  trainable: [3, BOOL],
  name: [6, TEXT],
});

/** A child of an object: its index among all objects, and its name in its parent. */
const Child = new MessageType({ node: [1, INT32], localName: [2, TEXT] });
/** An object of TensorFlow 2's programs. */
const SavedObject = new MessageType({
  children: [1, list(message(Child))],
  variable: [7, message(SavedVariable)],
});
export type ObjectNode = Partial<MessageOf<typeof SavedObject>>;
/** The values that a function captures: objects, by their indexes. */
const ConcreteFunction = new MessageType({ boundInputs: [2, INT32_LIST] });
const ObjectGraph = new MessageType({
  nodes: [1, list(message(SavedObject))],
  functions: [2, map(message(ConcreteFunction))],
});

const SavedAttribute = new MessageType({ name: [1, TEXT], checkpointKey: [3, TEXT] });
const CheckpointObject = new MessageType({
  children: [1, list(message(Child))],
  attributes: [2, list(message(SavedAttribute))],
});
/** The objects whose values are in a checkpoint: TrackableObjectGraph. */
export const CheckpointObjects = new MessageType({ nodes: [1, list(message(CheckpointObject))] });
export type CheckpointObjects = MessageOf<typeof CheckpointObjects>;

export const MetaGraphDef = new MessageType({
  info: [1, message(MetaInfo)],
  graphDef: [2, RAW],
  saver: [3, message(SaverDef)],
  collections: [4, map(message(CollectionDef))],
  signatures: [5, map(message(SignatureDef))],
  assets: [6, list(message(AssetFile))],
  objects: [7, message(ObjectGraph)],
});
export type MetaGraphDef = MessageOf<typeof MetaGraphDef>;

export const SavedModel = new MessageType({
  version: [1, INT32],
  metaGraphs: [2, list(message(MetaGraphDef))],
});
