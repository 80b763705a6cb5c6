/** What calls of servers have in common, whatever carries them: how long they may take, and advice for their errors. */

/** Calls that run no step are answered within this time, unless the session has a time of its own. */
const ANSWER_MS = 60_000;

/** Milliseconds after which a call fails; 0: it may take as long as it does. Both are as in CallOptions. */
export const timeLimit = (ofCall: number | undefined, ofSession: number | undefined): number =>
  ofCall || (ofSession ?? (ofCall === 0 ? 0 : ANSWER_MS));

const NEW_SESSION =
  'make a new session, and run the initializers: the variables of a task that restarted are gone';

/** Advice by the code of an error. */
export const adviceFor = (address: string): Readonly<Record<string, string>> => ({
  UNAVAILABLE: `Does the server ${address} run, and every task of its cluster? When they do, ${NEW_SESSION}.`,
  ABORTED: `If the server ${address} or a task of its cluster restarted, or its sessions were reset, ${NEW_SESSION}.`,
});

/** What is said of a call that took longer than its limit. */
export function latenessOf(address: string, method: string, limit: number): string {
  const what = `The server ${address} did not answer ${method} within ${limit} ms.`;
  if (method !== 'CreateSession') return what;
  return `${what} It waits until every task of its cluster runs; operationTimeoutMs of the session gives it more time.`;
}
