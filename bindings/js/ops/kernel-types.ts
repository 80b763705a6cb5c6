/** The kernels of an op, described by their constraints. */
import { AttrValue, decodeAttr } from '../messages/attr-value.js';
import { fieldsOf, textOf } from '../messages/protobuf.js';
import type { Runtime } from '../engine/runtime.js';

/** The attrs that a kernel constrains, with the allowed values. */
export type Constraints = readonly { readonly attr: string; readonly allowed: readonly AttrValue[] }[];

/** The constraints of all kernels of an op. */
export function kernelsOf({ wasm }: Runtime, op: string): Constraints[] {
  const buffer = wasm.scope((scope) => {
    const name = scope.string(op);
    return wasm.checked((status) => wasm.call.TF_GetRegisteredKernelsForOp(name, status));
  });
  try {
    return [...fieldsOf(wasm.bytesOfBuffer(buffer))].map((kernel) =>
      [...fieldsOf(kernel.bytes)]
        .filter(({ number }) => number === 3)
        .map((constraint) => {
          const [attr, allowed] = [...fieldsOf(constraint.bytes)];
          return { attr: textOf(attr!), allowed: decodeAttr(allowed!.bytes) as AttrValue[] };
        }),
    );
  } finally {
    wasm.call.TF_DeleteBuffer(buffer);
  }
}
