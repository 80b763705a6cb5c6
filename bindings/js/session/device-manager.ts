/** DeviceManager: the devices of a server, and the variables on them, which its sessions share. */
import type { Runtime } from '../engine/runtime.js';
import { unsigned } from '../engine/wasm.js';
import type { WasmDeviceManagerPtr } from '../generated/abi.js';
import type { Device } from './backend.js';
import { readDevices } from './device-list.js';

export class DeviceManager {
  private constructor(
    private readonly runtime: Runtime,
    readonly task: string,
    readonly pointer: WasmDeviceManagerPtr,
    readonly devices: readonly Device[],
  ) {}

  private static of(runtime: Runtime, task: string, pointer: WasmDeviceManagerPtr): DeviceManager {
    const { wasm } = runtime;
    const list = unsigned(wasm.call.TF_WasmManagedDevices(pointer));
    return new DeviceManager(runtime, task, pointer, readDevices(wasm, list));
  }

  /** `task` is the beginning of the devices' names: '/job:worker/replica:0/task:1'. */
  static open(runtime: Runtime, task: string, count: number): DeviceManager {
    const { wasm } = runtime;
    const pointer = wasm.scope((scope) =>
      unsigned(
        wasm.checked((status) => wasm.call.TF_WasmNewDeviceManager(scope.string(task), count, status)),
      ),
    );
    return DeviceManager.of(runtime, task, pointer);
  }

  /** The same devices, with variables of their own. */
  isolated(): DeviceManager {
    const { wasm } = this.runtime;
    const pointer = wasm.made((status) => wasm.call.TF_WasmIsolatedDevices(this.pointer, status));
    return DeviceManager.of(this.runtime, this.task, pointer);
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
