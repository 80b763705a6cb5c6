/** Parts of parsed JSON that may be missing or of another kind. */
import { isPlainObject } from './arguments.js';

export type JsonObject = Record<string, unknown>;

export const objectOr = (value: unknown, otherwise: JsonObject = {}): JsonObject =>
  isPlainObject(value) ? value : otherwise;

export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isPlainObject) : [];
