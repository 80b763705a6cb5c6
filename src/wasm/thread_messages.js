/* Threads get messages from other threads by postMessage. Emscripten also lets each thread wait at its own
 * address with Atomics.waitAsync, which nothing ends: when the thread has ended, and a lock is in its memory,
 * unlocking wakes that waiter instead of a thread, which then sleeps forever. */
addToLibrary({
  _emscripten_thread_mailbox_await: (thread) => {},
});
