/** Scopes in which operations ask for a device. */
import { checkFunction, shown } from '../base/arguments.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';

/** The device of a scope, or of one operation, within a scope; '' is none. */
export function mergeDevices({ wasm }: Runtime, outer: string, inner: string): string {
  return wasm.scope((scope) => {
    const [around, name] = [scope.string(outer), scope.string(inner)];
    return wasm.bufferText((buffer, status) => wasm.call.TF_WasmMergeDevices(around, name, buffer, status));
  });
}

/** Runs `use`; the operations that it adds ask for the device. */
export function withDevice<T>(runtime: Runtime, device: string | null, use: () => T): T {
  checkFunction('what tf.device runs', use);
  if (device !== null && typeof device !== 'string')
    throw new InvalidArgumentError(
      `a device is a name such as '/cpu:1', or null for none, not ${shown(device)}`,
    );
  const before = runtime.device;
  runtime.device = device === null ? '' : mergeDevices(runtime, before, device);
  try {
    const result = use();
    if (result instanceof Promise)
      throw new InvalidArgumentError(
        'the scope of tf.device ends when its function returns: that must not be an async function',
      );
    return result;
  } finally {
    runtime.device = before;
  }
}
