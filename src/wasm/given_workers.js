/* Emscripten's pool of threads takes the workers that createTfcore({ workers }) was given, instead of
 * starting some itself: how a worker
 * is started differs from host to host, may fail, and must stand in the form that bundlers read
 * (bindings/js/engine/workers.ts). */
LibraryManager.library.$PThread.allocateUnusedWorker = function () {
  PThread.unusedWorkers.push(Module['workers'].pop());
};
