/**
 * The script of one thread, dist/tfcore-worker.js: only Emscripten's glue in its role as a thread. It is
 * built as a plain script, so that every kind of worker can run it. Its first message says that it listens.
 */
import createTfcore from 'glue:threads';

interface Scope {
  name: string;
  onmessage?: (event: { data: unknown }) => void;
  postMessage(message: unknown): void;
}
const scope = globalThis as unknown as Scope;

/** Emscripten's glue expects the interface of web workers, which Node's threads lack. */
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
/* The name by which the glue recognises its role. */
scope.name = 'em-pthread';
void createTfcore({});
scope.postMessage('listening');
