// The part of node:assert/strict that the specs use, for the page: run-in-chromium.mjs substitutes it for
// that module.

class AssertionError extends Error {
  name = 'AssertionError';
}

const bigints = (_, value) => (typeof value === 'bigint' ? `${value}n` : value);
const show = (value) => {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}[${[...value].slice(0, 20)}]`;
  return typeof value === 'object' && value !== null ? JSON.stringify(value, bigints) : String(value);
};

function fail(message, fallback) {
  if (message instanceof Error) throw message;
  throw new AssertionError(message ?? fallback);
}

function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Map || a instanceof Set) return same([...a], [...b]);
  const [keysOfA, keysOfB] = [Object.keys(a), Object.keys(b)];
  return (
    keysOfA.length === keysOfB.length &&
    a.length === b.length &&
    keysOfA.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
  );
}

/**
 * Checks the expectation of throws() and rejects() like node:assert: a class, a pattern, a predicate, or
 * expected properties.
 */
function expectError(error, expected, message) {
  if (expected === undefined) return;
  if (expected instanceof RegExp) {
    if (!expected.test(String(error))) fail(message, `${show(error)} does not match ${expected}`);
  } else if (typeof expected === 'function') {
    const isClass = expected.prototype !== undefined && error instanceof expected;
    if (!isClass && (Error.isPrototypeOf(expected) || expected(error) !== true))
      fail(message, `${show(error)} is not as expected`);
  } else {
    for (const [key, value] of Object.entries(expected)) {
      const ok =
        value instanceof RegExp && typeof error?.[key] === 'string'
          ? value.test(error[key])
          : same(error?.[key], value);
      if (!ok)
        fail(message, `the error's ${key} is ${show(error?.[key])}, not ${show(value)} (${show(error)})`);
    }
  }
}

const ok = (value, message) => void (value || fail(message, `${show(value)} is not truthy`));

export default Object.assign(ok, {
  ok,
  fail: (message) => fail(message, 'failed'),
  equal: (a, b, message) => void (Object.is(a, b) || fail(message, `${show(a)} is not ${show(b)}`)),
  notEqual: (a, b, message) => void (!Object.is(a, b) || fail(message, `both are ${show(a)}`)),
  deepEqual: (a, b, message) => void (same(a, b) || fail(message, `${show(a)} is not equal to ${show(b)}`)),
  notDeepEqual: (a, b, message) => void (!same(a, b) || fail(message, `both are ${show(a)}`)),
  match: (text, pattern, message) =>
    void (pattern.test(text) || fail(message, `${show(text)} does not match ${pattern}`)),
  doesNotMatch: (text, pattern, message) =>
    void (!pattern.test(text) || fail(message, `${show(text)} matches ${pattern}`)),
  throws(run, expected, message) {
    try {
      run();
    } catch (error) {
      return expectError(error, expected, message);
    }
    return fail(message, 'nothing was thrown');
  },
  async rejects(promise, expected, message) {
    try {
      await (typeof promise === 'function' ? promise() : promise);
    } catch (error) {
      return expectError(error, expected, message);
    }
    return fail(message, 'the promise was not rejected');
  },
});
