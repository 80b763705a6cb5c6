/** The JavaScript host: whether it has Node's modules (Node, Bun, Deno), and access to them. */
import { UnavailableError } from './errors.js';

interface NodeModules {
  'node:buffer': typeof import('node:buffer');
  'node:fs': typeof import('node:fs');
  'node:fs/promises': typeof import('node:fs/promises');
  'node:http': typeof import('node:http');
  'node:https': typeof import('node:https');
  'node:os': typeof import('node:os');
  'node:path': typeof import('node:path');
  'node:tls': typeof import('node:tls');
  'node:url': typeof import('node:url');
  'node:v8': typeof import('node:v8');
  'node:worker_threads': typeof import('node:worker_threads');
  'node:zlib': typeof import('node:zlib');
}

/**
 * Imports a package that users install if they need it. Bundlers would look for the package of an import, so
 * the import is made of text.
 */
export const importPackage = (name: string): Promise<unknown> =>
  (new Function('name', 'return import(name)') as (name: string) => Promise<unknown>)(name);

export const isNode = typeof process === 'object' && typeof process.versions?.node === 'string';

/** A module of Node. It is loaded at run time, so that bundlers for the web see no import of it. */
export function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] {
  if (typeof process.getBuiltinModule !== 'function')
    throw new UnavailableError(`Node 20.16, 22.3 or newer is needed; this is ${process.version}`);
  return process.getBuiltinModule(name) as NodeModules[Name];
}
