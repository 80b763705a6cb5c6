/**
 * Yields to the event loop: timers, messages, input and painting are processed before the promise is
 * fulfilled.
 */
declare const setImmediate: ((callback: () => void) => unknown) | undefined;

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') {
      setImmediate(resolve);
      return;
    }
    // In a page, a timer waits 4 ms if timers follow one another.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
