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

/** When this was first asked in the current turn; undefined before that. */
let turnBegan: number | undefined;

/**
 * The milliseconds since the first call in this turn of the event loop. Short pieces of work that follow one
 * another through promises are all part of one turn.
 */
export function timeInTurn(): number {
  const now = performance.now();
  if (turnBegan === undefined) {
    turnBegan = now;
    void nextTurn().then(() => (turnBegan = undefined));
  }
  return now - turnBegan;
}
