/**
 * The script of one thread, dist/tfcore-worker.js: Emscripten's glue in its role as a thread, and nothing
 * else. It is built as a plain script, so that every kind of worker runs it. The first message that it sends
 * says that it listens.
 */
import createTfcore from 'glue:threads';

interface Scope {
  name: string;
  onmessage?: (event: { data: unknown }) => void;
  postMessage(message: unknown): void;
}
const scope = globalThis as unknown as Scope;

/** Node's threads get what the glue knows from workers of the web. */
function actAsWebWorker(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  Object.assign(globalThis, {
    self: globalThis,
    importScripts() {},
    postMessage: (message: unknown) => parentPort!.postMessage(message),
  });
  if (!('location' in globalThis)) Object.assign(globalThis, { location: { href: '' } });
  parentPort!.on('message', (data: unknown) => scope.onmessage?.({ data }));
}

if (typeof process === 'object' && typeof process.versions?.node === 'string') actAsWebWorker();
/* By this name the glue sees what it is. */
scope.name = 'em-pthread';
void createTfcore({});
scope.postMessage('listening');
