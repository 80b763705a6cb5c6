/** DeviceManager: the devices of a server, and the variables on them, which its sessions share. */
import type { Runtime } from '../engine/runtime.js';
import { unsigned } from '../engine/wasm.js';
import type { WasmDeviceManagerPtr } from '../generated/abi.js';

export class DeviceManager {
  readonly pointer: WasmDeviceManagerPtr;

  /** `task` is the beginning of the devices' names: '/job:worker/replica:0/task:1'. */
  constructor(
    private readonly runtime: Runtime,
    readonly task: string,
    count: number,
  ) {
    const { wasm } = runtime;
    this.pointer = wasm.scope((scope) =>
      unsigned(
        wasm.checked((status) => wasm.call.TF_WasmNewDeviceManager(scope.string(task), count, status)),
      ),
    );
  }

  /** Forgets the variables and other resources of containers; an empty list means the default one. */
  clear(containers: readonly string[]): void {
    const { wasm } = this.runtime;
    for (const container of containers.length > 0 ? containers : [''])
      wasm.scope((scope) => wasm.call.TF_WasmClearContainer(this.pointer, scope.string(container)));
  }

  /** Sessions that still use the devices keep them. */
  dispose(): void {
    this.runtime.wasm.call.TF_WasmDeleteDeviceManager(this.pointer);
  }
}
