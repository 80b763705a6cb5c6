/** Cluster: the tasks that compute together, and the connections to them. */
import { shown } from '../base/arguments.js';
import { AbortedError, InvalidArgumentError } from '../base/errors.js';
import type { Method } from '../master/messages.js';
import { GrpcTransport } from '../master/grpc-transport.js';
import { invoke } from '../master/transport.js';
import type { Fields, ValuesOf } from '../messages/message-type.js';
import { taskName } from './task-name.js';

/**
 * The addresses of the tasks of each job, 'host:port', as for tf.train.ClusterSpec: a list, or an object with the numbers
 * of the tasks as keys.
 */
export type ClusterSpec = Readonly<Record<string, readonly string[] | Readonly<Record<number, string>>>>;

/** A number for a request or a step. */
export const newNumber = (): bigint => BigInt.asIntN(63, crypto.getRandomValues(new BigInt64Array(1))[0]!);

/** Calls that end when the step does, or its deadline. */
const NO_LIMIT = 0;

export class Cluster {
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #transports = new Map<string, GrpcTransport>();

  /** `addresses`: those of all tasks, by their names. */
  constructor(addresses: ReadonlyMap<string, string>) {
    this.#addresses = addresses;
  }

  static of(spec: ClusterSpec): Cluster {
    const addresses = new Map<string, string>();
    for (const [job, tasks] of Object.entries(spec)) {
      if (typeof tasks !== 'object' || tasks === null)
        throw new InvalidArgumentError(
          `the tasks of job '${job}' must be a list of addresses, not ${shown(tasks)}`,
        );
      for (const [index, address] of Object.entries(tasks)) {
        if (!/^\d+$/.test(index) || typeof address !== 'string' || !/^[^/]+:\d+$/.test(address))
          throw new InvalidArgumentError(
            `the address of task ${index} of job '${job}' must be 'host:port', not ${shown(address)}`,
          );
        addresses.set(taskName(job, Number(index)), address);
      }
    }
    return new Cluster(addresses);
  }

  /** '/job:worker/replica:0/task:1' and so on. */
  get tasks(): readonly string[] {
    return [...this.#addresses.keys()];
  }

  /** 'host:port'. Throws for a task that is not in the cluster. */
  addressOf(task: string): string {
    const address = this.#addresses.get(task);
    if (address === undefined) throw new AbortedError(`${task} is not a task of the cluster`);
    return address;
  }

  /** Calls a method of a task. Without a limit it may take as long as it does. */
  invoke<Q extends Fields, R extends Fields>(
    task: string,
    method: Method<Q, R>,
    request: Partial<ValuesOf<Q>>,
    signal?: AbortSignal,
    timeoutMs: number = NO_LIMIT,
  ): Promise<ValuesOf<R>> {
    return invoke(this.#transport(task), method, request, { signal, timeoutMs });
  }

  #transport(task: string): GrpcTransport {
    let transport = this.#transports.get(task);
    if (!transport) this.#transports.set(task, (transport = new GrpcTransport(this.addressOf(task), {})));
    return transport;
  }

  /** Ends all connections. */
  close(): void {
    for (const transport of this.#transports.values()) transport.close();
    this.#transports.clear();
  }
}
