/** Vectors of 256 bits: V8 can compute two adjacent operations of WebAssembly SIMD in one of AVX. */
import { UnavailableError } from '../base/errors.js';
import { isNode, nodeModule } from '../base/host.js';

/** The first Node whose V8 pairs the operations; older ones have no such flag, or one without an effect. */
const FIRST_NODE = 24;
const FLAG = '--experimental-wasm-revectorize';

/** Sets the flag of V8 for modules that the process compiles from now on. */
export function revectorize(): void {
  if (!isNode)
    throw new UnavailableError(
      `revectorize sets a flag of V8, which only Node lets a program do; start Chromium with --js-flags=${FLAG} instead`,
    );
  const [major] = process.versions.node.split('.');
  if (Number(major) < FIRST_NODE || !('v8' in process.versions) || 'bun' in process.versions)
    throw new UnavailableError(
      `revectorize needs Node ${FIRST_NODE} or newer; this is ${'bun' in process.versions ? 'Bun' : `Node ${process.versions.node}`}`,
    );
  nodeModule('node:v8').setFlagsFromString(FLAG);
}
