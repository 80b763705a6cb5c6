/**
 * Giving way to the event loop: timers, messages, input and painting get their turn before the promise is
 * fulfilled.
 */
declare const setImmediate: ((callback: () => void) => unknown) | undefined;

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') {
      setImmediate(resolve);
      return;
    }
    // A timer would wait 4 ms in a page when timers follow each other.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
