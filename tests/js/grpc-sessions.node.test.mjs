// The specs of the Session API, as they are, with sessions on a server of TensorFlow.
import { runSessionSpecs } from './session-specs.mjs';
import { needTensorFlow, startCluster } from './tensorflow-servers.mjs';

const SYNCHRONOUS = 'errors are thrown at once only in this thread';
const SHARED = 'sessions of a server share its variables';
const ABORTS = "TensorFlow's optimizer ends its process when a Const of dtype $T has an int64 as value";
const CHANGES =
  'runs before gradients change a branch or loop; servers refuse that (grpc-target.node.test.mjs)';
const LOCAL = 'is about the engine of this thread';

/** The files, and the specs that make no sense on a server: the beginnings of their titles, and why. */
const FILES = {
  'callables.test.mjs': {
    'callables say what is wrong': SYNCHRONOUS,
    'callables are counted until they are released': LOCAL,
    'partial runs say what is wrong, and go on afterwards': SYNCHRONOUS,
  },
  'control-flow.test.mjs': {
    'graph.call calls functions by definition or name': ABORTS,
    'graph.cond takes functions, alone or beside': ABORTS,
    'graph.whileLoop takes functions, and writes': ABORTS,
    'graph.whileLoop differentiates a loop and a branch inside of a body': CHANGES,
    'random numbers in branches and loops are drawn once': CHANGES,
  },
  'digits.test.mjs': {},
  'flow-gradients.test.mjs': {},
  'freeze.test.mjs': {},
  'gradients.test.mjs': { 'checkGradients checks ops of ones own': LOCAL },
  'import-export.test.mjs': {},
  'references.test.mjs': { 'reference variables are trained by the graph that': LOCAL },
  'session-limits.test.mjs': {
    'steps that take long let timers have their turn': LOCAL,
    'steps that take long run in the order': 'steps of a server run at the same time',
    'steps that take long are finished first when another runs at once': SYNCHRONOUS,
  },
  'session.test.mjs': {
    'Session explains wrong feeds and fetches': 'a Placeholder of TensorFlow takes values of other shapes',
    'Session keeps its own variables': SHARED,
  },
  'strings.test.mjs': {},
  'tensor.test.mjs': {},
  'traces.test.mjs': {
    'traces have a record for each kernel that ran': 'TensorFlow names inputs in another way',
    'traces name the device of each node': LOCAL,
    'Session.reset closes all sessions of the engine': LOCAL,
  },
  'train.test.mjs': {},
};

describe("the specs of the Session API, on TensorFlow's own server", function () {
  this.timeout(300_000);
  let servers;
  before(async function () {
    needTensorFlow(this);
    servers = await startCluster({ worker: 1 });
  });
  after(() => servers?.kill());

  for (const [file, left] of Object.entries(FILES))
    it(file, () => runSessionSpecs(file, servers.target, Object.keys(left)));
});
