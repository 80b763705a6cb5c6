/* Makes Emscripten's thread pool take the workers given to createTfcore({ workers }), instead of starting its
 * own. Starting a worker differs between hosts, may fail, and must be written in the form that bundlers
 * recognise (bindings/js/engine/workers.ts). */
LibraryManager.library.$PThread.allocateUnusedWorker = function () {
  PThread.unusedWorkers.push(Module['workers'].pop());
};
