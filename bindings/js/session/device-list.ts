/** Devices, as the engine lists them. */
import type { Wasm } from '../engine/wasm.js';
import type { DeviceListPtr } from '../generated/abi.js';
import type { Device } from './backend.js';

/** The devices of a list, which is deleted. */
export function readDevices(wasm: Wasm, list: DeviceListPtr): Device[] {
  const { call } = wasm;
  try {
    return Array.from({ length: call.TF_DeviceListCount(list) }, (_, i) => {
      let device: Device | undefined;
      wasm.checked((status) => {
        device = {
          name: wasm.text(call.TF_DeviceListName(list, i, status)),
          type: wasm.text(call.TF_DeviceListType(list, i, status)),
          memoryBytes: Number(call.TF_DeviceListMemoryBytes(list, i, status)),
          incarnation: BigInt.asUintN(64, call.TF_DeviceListIncarnation(list, i, status)),
        };
      });
      return device!;
    });
  } finally {
    call.TF_DeleteDeviceList(list);
  }
}
