// The specs of the Session API, as they are, with sessions over WebSockets on a server of this package.
import { startServing } from './serving.mjs';
import { runSessionSpecs } from './session-specs.mjs';

const SYNCHRONOUS = 'errors are thrown at once only in this thread';
const SHARED = 'sessions of a server share its variables';
const LOCAL = 'is about the engine of this thread';

/** The files, and the specs that make no sense on a server: the beginnings of their titles, and why. */
const FILES = {
  'callables.test.mjs': {
    'callables say what is wrong': SYNCHRONOUS,
    'callables are counted until they are released': LOCAL,
    'partial runs say what is wrong, and go on afterwards': SYNCHRONOUS,
  },
  'control-flow.test.mjs': {},
  'digits.test.mjs': {},
  'flow-gradients.test.mjs': {},
  'freeze.test.mjs': {},
  'gradients.test.mjs': { 'checkGradients checks ops of ones own': LOCAL },
  'import-export.test.mjs': {},
  'references.test.mjs': { 'reference variables are trained by the graph that': LOCAL },
  'session-limits.test.mjs': {
    'steps that take long are finished first when another runs at once': SYNCHRONOUS,
  },
  'session.test.mjs': { 'Session keeps its own variables': SHARED },
  'strings.test.mjs': {},
  'tensor.test.mjs': {},
  'traces.test.mjs': {
    'traces name the device of each node': 'the devices are those of the server',
    'Session.reset closes all sessions of the engine': LOCAL,
  },
  'train.test.mjs': {},
};

describe('the specs of the Session API, over WebSockets', function () {
  this.timeout(300_000);
  let server;
  before(async () => (server = await startServing('--websocket', '0')));
  after(() => server?.kill());

  for (const [file, left] of Object.entries(FILES))
    it(file, () => runSessionSpecs(file, server.target, Object.keys(left)));
});
