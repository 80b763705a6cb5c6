/**
 * The script of workers, dist/tfcore-worker.js. Its first message says that it listens; the first that it
 * receives decides its role: it serves sessions (the target 'worker'), or it is one of the engine's threads,
 * where only Emscripten's glue works. It is built as a plain script, so that every kind of worker can run it.
 */
import createTfcore from 'glue:threads';
import { isNode, nodeModule } from './base/host.js';
import { isServeMessage, startEngine, type ServeMessage } from './engine/service-start.js';
import { MasterService } from './service/master-service.js';
import { holdLock, send, servePort } from './service/serve-port.js';

interface Scope {
  name: string;
  onmessage: ((event: { data: unknown }) => void) | null;
  postMessage(message: unknown): void;
}
const scope = globalThis as unknown as Scope;

/** Calls that arrive before the engine has started wait for it. */
function serve({ serve: { port, ...message } }: ServeMessage): void {
  const starting = startEngine(message).then((runtime) => {
    runtime.log.write = (log) => send(port, { log });
    return new MasterService(runtime);
  });
  starting.catch((error: Error) => send(port, { fatal: error.message }));
  servePort(port, async (...call) => (await starting).table.call(...call));
  holdLock(port);
}

/** Emscripten's glue recognises its role by the name, and handles messages from then on. */
function becomeThread(): void {
  /* It expects the interface of web workers. */
  if (isNode) {
    const rest = 'location' in globalThis ? {} : { location: { href: '' } };
    Object.assign(globalThis, { self: globalThis, importScripts() {}, ...rest });
  }
  scope.name = 'em-pthread';
  void createTfcore({});
}

if (isNode) {
  const parent = nodeModule('node:worker_threads').parentPort!;
  scope.postMessage = (message) => parent.postMessage(message);
  parent.on('message', (data: unknown) => scope.onmessage?.({ data }));
}
scope.onmessage = (event) => {
  if (isServeMessage(event.data)) return serve(event.data);
  becomeThread();
  scope.onmessage!(event);
};
scope.postMessage('listening');
