/** The text for the package's objects in consoles and debuggers. */

/** The method that Node's, Deno's and Bun's consoles call. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * Consoles of Node, Deno and Bun print `line(object)`, or '<Name>' if it throws. Others, and String() of a
 * class without toString, use the name of the object's class. `line` must return a short text.
 */
export function showAs<T extends object>(
  Class: abstract new (...args: never[]) => T,
  name: string,
  line: (object: T) => string,
): void {
  const text = (object: T): string => {
    try {
      return line(object);
    } catch {
      return `${name}<>`;
    }
  };
  const define = (key: PropertyKey, value: unknown) =>
    Object.defineProperty(Class.prototype, key, { value, configurable: true, writable: true });
  define(INSPECT, function (this: T) {
    return text(this);
  });
  define(Symbol.toStringTag, name);
  if (!Object.hasOwn(Class.prototype as object, 'toString')) {
    define('toString', function (this: T) {
      return text(this);
    });
  }
}

/** 1 node, 2 nodes. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
