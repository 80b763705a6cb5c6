/**
 * The requests and responses of TensorFlow's MasterService (tensorflow/core/protobuf/master.proto), and the
 * messages that they contain.
 */
import {
  BOOL,
  FIXED64,
  Fields,
  INT32,
  INT64,
  MessageOf,
  MessageType,
  RAW,
  TENSOR,
  TEXT,
  list,
  message,
} from '../messages/message-type.js';

export const NamedTensor = new MessageType({ name: [1, TEXT], tensor: [2, TENSOR] });

/** As far as the bindings use it. */
export const RunOptions = new MessageType({ traceLevel: [1, INT32], timeoutInMs: [2, INT64] });
export type RunOptions = MessageOf<typeof RunOptions>;

const TensorConnection = new MessageType({ fromTensor: [1, TEXT], toTensor: [2, TEXT] });

const CallableOptions = new MessageType({
  feed: [1, list(TEXT)],
  fetch: [2, list(TEXT)],
  target: [3, list(TEXT)],
  runOptions: [4, message(RunOptions)],
  tensorConnection: [5, list(message(TensorConnection))],
});

export const DeviceAttributes = new MessageType({
  name: [1, TEXT],
  deviceType: [2, TEXT],
  memoryLimit: [4, INT64],
  incarnation: [6, FIXED64],
});

/** A method of the service: its name, and its messages. */
export interface Method<Q extends Fields, R extends Fields> {
  readonly name: string;
  readonly request: MessageType<Q>;
  readonly response: MessageType<R>;
}

export const method = <Q extends Fields, R extends Fields>(
  name: string,
  request: Q,
  response: R,
): Method<Q, R> => ({
  name,
  request: new MessageType(request),
  response: new MessageType(response),
});

/** A GraphDef and a ConfigProto. */
export const CreateSession = method(
  'CreateSession',
  { graphDef: [1, RAW], config: [2, RAW], target: [3, TEXT] },
  { sessionHandle: [1, TEXT], graphVersion: [2, INT64] },
);

export const ExtendSession = method(
  'ExtendSession',
  { sessionHandle: [1, TEXT], graphDef: [2, RAW], currentGraphVersion: [3, INT64] },
  { newGraphVersion: [4, INT64] },
);

/** `options` is a RunOptions, `metadata` a RunMetadata. */
export const RunStep = method(
  'RunStep',
  {
    sessionHandle: [1, TEXT],
    feed: [2, list(message(NamedTensor))],
    fetch: [3, list(TEXT)],
    target: [4, list(TEXT)],
    options: [5, RAW],
    partialRunHandle: [6, TEXT],
    storeErrorsInResponseBody: [7, BOOL],
    requestId: [8, INT64],
  },
  {
    tensor: [1, list(message(NamedTensor))],
    metadata: [2, RAW],
    statusCode: [3, INT32],
    statusErrorMessage: [4, TEXT],
  },
);

export const PartialRunSetup = method(
  'PartialRunSetup',
  {
    sessionHandle: [1, TEXT],
    feed: [2, list(TEXT)],
    fetch: [3, list(TEXT)],
    target: [4, list(TEXT)],
    requestId: [5, INT64],
  },
  { partialRunHandle: [1, TEXT] },
);

export const CloseSession = method('CloseSession', { sessionHandle: [1, TEXT] }, {});

export const Reset = method('Reset', { container: [1, list(TEXT)], deviceFilters: [2, list(TEXT)] }, {});

export const ListDevices = method(
  'ListDevices',
  { sessionHandle: [1, TEXT] },
  { localDevice: [1, list(message(DeviceAttributes))], remoteDevice: [2, list(message(DeviceAttributes))] },
);

export const MakeCallable = method(
  'MakeCallable',
  { sessionHandle: [1, TEXT], options: [2, message(CallableOptions)], requestId: [3, INT64] },
  { handle: [1, INT64] },
);

export const RunCallable = method(
  'RunCallable',
  { sessionHandle: [1, TEXT], handle: [2, INT64], feed: [3, list(TENSOR)], requestId: [4, INT64] },
  { fetch: [1, list(TENSOR)], metadata: [2, RAW] },
);

export const ReleaseCallable = method(
  'ReleaseCallable',
  { sessionHandle: [1, TEXT], handle: [2, INT64] },
  {},
);

/*
 * Not of TensorFlow's service: files in the memory of the engine that serves. A client copies a model there, whose
 * operations read them.
 */
export const CreateFile = method('CreateFile', { path: [1, TEXT], size: [2, INT64] }, {});

export const WriteFile = method('WriteFile', { path: [1, TEXT], offset: [2, INT64], content: [3, RAW] }, {});

export const RemoveFile = method('RemoveFile', { path: [1, TEXT] }, {});

export const NumShards = method('NumShards', { prefix: [1, TEXT] }, { count: [1, INT32] });
