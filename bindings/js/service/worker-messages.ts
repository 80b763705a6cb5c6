/** The requests and responses of TensorFlow's WorkerService (tensorflow/core/protobuf/worker.proto). */
import { DeviceAttributes, NamedTensor, method } from '../master/messages.js';
import {
  BOOL,
  INT32,
  INT64,
  MessageType,
  RAW,
  TENSOR,
  TEXT,
  list,
  message,
} from '../messages/message-type.js';

const TaskEntry = new MessageType({ key: [1, INT32], value: [2, TEXT] });
const JobDef = new MessageType({ name: [1, TEXT], tasks: [2, list(message(TaskEntry))] });
const ClusterDef = new MessageType({ job: [1, list(message(JobDef))] });

/** As far as a worker uses it. */
const ServerDef = new MessageType({
  cluster: [1, message(ClusterDef)],
  jobName: [2, TEXT],
  taskIndex: [3, INT32],
  protocol: [5, TEXT],
});

const ExecutorOpts = new MessageType({
  recordCosts: [1, BOOL],
  recordTimeline: [3, BOOL],
  recordPartitionGraphs: [4, BOOL],
});

/** The name of a method with that of its service, which is not the MasterService. */
const named = (name: string) => `WorkerService/${name}`;

export const GetStatus = method(
  named('GetStatus'),
  {},
  { deviceAttributes: [1, list(message(DeviceAttributes))] },
);

export const CreateWorkerSession = method(
  named('CreateWorkerSession'),
  {
    sessionHandle: [1, TEXT],
    serverDef: [2, message(ServerDef)],
    isolateSessionState: [3, BOOL],
    clusterDeviceAttributes: [4, list(message(DeviceAttributes))],
  },
  {},
);

export const DeleteWorkerSession = method(named('DeleteWorkerSession'), { sessionHandle: [1, TEXT] }, {});

/** `graphDef` is a GraphDef, `configProto` a ConfigProto. */
export const RegisterGraph = method(
  named('RegisterGraph'),
  {
    sessionHandle: [1, TEXT],
    graphDef: [2, RAW],
    createWorkerSessionCalled: [6, BOOL],
    configProto: [8, RAW],
  },
  { graphHandle: [1, TEXT] },
);

export const DeregisterGraph = method(
  named('DeregisterGraph'),
  { graphHandle: [1, TEXT], sessionHandle: [2, TEXT], createWorkerSessionCalled: [3, BOOL] },
  {},
);

/** `stepStats` is a StepStats. */
export const RunGraph = method(
  named('RunGraph'),
  {
    graphHandle: [1, TEXT],
    stepId: [2, INT64],
    send: [3, list(message(NamedTensor))],
    recvKey: [4, list(TEXT)],
    execOpts: [5, message(ExecutorOpts)],
    isPartial: [6, BOOL],
    isLastPartialRun: [7, BOOL],
    sessionHandle: [8, TEXT],
    storeErrorsInResponseBody: [9, BOOL],
    createWorkerSessionCalled: [10, BOOL],
    requestId: [11, INT64],
  },
  {
    recv: [1, list(message(NamedTensor))],
    stepStats: [2, RAW],
    statusCode: [5, INT32],
    statusErrorMessage: [6, TEXT],
  },
);

export const CleanupGraph = method(named('CleanupGraph'), { stepId: [1, INT64] }, {});

export const CleanupAll = method(named('CleanupAll'), { container: [1, list(TEXT)] }, {});

export const RecvTensor = method(
  named('RecvTensor'),
  { stepId: [1, INT64], rendezvousKey: [2, TEXT], requestId: [7, INT64] },
  { tensor: [1, TENSOR], isDead: [2, BOOL], sendStartMicros: [3, INT64], requireAck: [5, BOOL] },
);

/** Acknowledges a RecvTensor that asked for it; ours never do. */
export const MarkRecvFinished = method(named('MarkRecvFinished'), { requestId: [1, INT64] }, {});
