/** Packages of npm that users install if they need them. */
import { FailedPreconditionError } from './errors.js';
import { importPackage } from './host.js';

/** A function that loads a package, once. `use` begins its error: 'targets grpc:// need the package'. */
export function optionalPackage<Module>(name: string, use: string): () => Promise<Module> {
  let module: Promise<Module> | undefined;
  return () => {
    module ??= importPackage(name).catch((error: unknown) => {
      module = undefined; // it may be installed meanwhile
      throw new FailedPreconditionError(`${use} ${name}: npm install ${name} (${(error as Error).message})`);
    }) as Promise<Module>;
    return module;
  };
}
