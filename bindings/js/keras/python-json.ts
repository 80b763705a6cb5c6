/** JSON as Python writes it: with Infinity and NaN, and numbers that are floating-point because they have a point. */
import { isPlainObject } from '../base/arguments.js';

/** A constant in the call of a layer. Lists in it are nested like its dimensions. */
export class Constant {
  constructor(
    readonly value: unknown,
    /** Undefined if the model does not tell it. 'float' is a number of Python, which adapts to other dtypes. */
    readonly dtype: string | undefined,
  ) {}
}

/** Strings are tokens too, so that nothing in them is taken for a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]]|-?(?:Infinity|NaN)|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/g;

/** Stands for what JSON.parse cannot tell. */
const MARK = '__float__';

/**
 * Parses the description of a model. In the calls of layers, 2.0 becomes a Constant: as the number 2 it would
 * leave values of the dtype int32 as they are, instead of making them float32.
 */
export function parsePythonJson(text: string): unknown {
  let depth = 0; // of lists in the calls of a layer
  let isNamed = false;
  const plain = text.replace(TOKEN, (token) => {
    if (token === '[') {
      if (depth > 0 || isNamed) depth++;
      isNamed = false;
    } else if (token === ']') depth = Math.max(0, depth - 1);
    else if (token.startsWith('"')) isNamed = token === '"inbound_nodes"';
    else if (token.endsWith('Infinity')) return token.replace('Infinity', '1e999');
    else if (token.endsWith('NaN')) return `{"${MARK}":"NaN"}`;
    else if (depth > 0 && /[.eE]/.test(token) && Number.isInteger(Number(token)))
      return `{"${MARK}":${token}}`;
    return token;
  });
  return JSON.parse(plain, (_, value: unknown) => {
    if (!isPlainObject(value) || !Object.hasOwn(value, MARK)) return value;
    const marked = value[MARK];
    return marked === 'NaN' ? NaN : new Constant(marked, 'float');
  });
}
