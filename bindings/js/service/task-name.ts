/** Names of tasks ('/job:worker/replica:0/task:1') and of devices, and keys of values that tasks send each other. */

/** The task in the name of a device: 'x' in 'x/device:CPU:0'. */
export const taskOfDevice = (device: string): string => device.replace(/\/device:.*$/, '');

export const taskName = (job: string, index: number): string => `/job:${job}/replica:0/task:${index}`;

/** What a key says of the sender: 'device;incarnation;...'. */
export function senderOf(key: string): { readonly device: string; readonly incarnation: bigint } {
  const [device = '', digits = ''] = key.split(';');
  return { device, incarnation: /^[\da-f]{1,16}$/.test(digits) ? BigInt(`0x${digits}`) : 0n };
}
