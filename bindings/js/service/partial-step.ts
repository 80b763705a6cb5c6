/**
 * A partial run of a session with other tasks. The step begins at once, with nodes in place of its feeds and behind its
 * fetches that exchange values with the client as they do with other tasks; they are not sent when the step begins and
 * when it ends, but when the client feeds and fetches them.
 */
import { InvalidArgumentError } from '../base/errors.js';
import type { Graph } from '../graph/graph.js';
import type { Operation, Output } from '../graph/operation.js';
import type { Device, Plan } from '../session/backend.js';
import type { Tensor } from '../tensor/tensor.js';
import type { StepValues } from './step-values.js';

/** The keys of the values of a partial run, and the plan of its step. */
export interface PartialPlan {
  readonly plan: Plan;
  readonly connections: readonly (readonly [Output, Output])[];
  readonly feedKeys: ReadonlyMap<string, string>;
  readonly fetchKeys: ReadonlyMap<string, string>;
}

/** A value that a client exchanges with its session goes from the master's first device to the same. */
const attrsOf = ({ name, incarnation }: Device, tensorName: string) => ({
  tensor_name: tensorName,
  send_device: name,
  send_device_incarnation: BigInt.asIntN(64, incarnation),
  recv_device: name,
  client_terminated: true,
});

const keyOf = ({ name, incarnation }: Device, tensorName: string): string =>
  `${name};${incarnation.toString(16).padStart(16, '0')};${name};${tensorName};0:0`;

/** Adds the nodes to the graph, for the device of the master. */
export function addExchange(graph: Graph, { feeds, fetches, targets }: Plan, device: Device): PartialPlan {
  const connections: (readonly [Output, Output])[] = [];
  const sends: Operation[] = [];
  const [feedKeys, fetchKeys] = [new Map<string, string>(), new Map<string, string>()];
  for (const feed of feeds) {
    const tensorName = `feed ${feed.name}`;
    const attrs = { tensor_type: feed.dtype, ...attrsOf(device, tensorName) };
    const recv = graph.op('_Recv', [], { name: graph.uniqueName('piece'), attrs, device: device.name });
    connections.push([recv.output(0), feed]);
    feedKeys.set(feed.name, keyOf(device, tensorName));
  }
  for (const fetch of fetches) {
    const tensorName = `fetch ${fetch.name}`;
    const attrs = attrsOf(device, tensorName);
    sends.push(graph.op('_Send', [fetch], { name: graph.uniqueName('piece'), attrs, device: device.name }));
    fetchKeys.set(fetch.name, keyOf(device, tensorName));
  }
  return {
    plan: { feeds: [], fetches: [], targets: [...targets, ...sends] },
    connections,
    feedKeys,
    fetchKeys,
  };
}

/** Refuses a fetch that needs feeds which have not come yet. */
function checkReach(fetch: Output, missing: ReadonlySet<string>): void {
  const seen = new Set<number>();
  const queue = [fetch.operation];
  const need = (output: Output): void => {
    if (missing.has(output.name))
      throw new InvalidArgumentError(
        `Fetch ${output.name} can't be computed from the feeds that have been fed so far.`,
      );
    queue.push(output.operation);
  };
  for (let operation = queue.pop(); operation; operation = queue.pop()) {
    if (seen.has(operation.pointer)) continue;
    seen.add(operation.pointer);
    queue.push(...operation.controlInputs);
    operation.inputs.forEach(need);
  }
}

/** A partial run that has begun. */
export class PartialStep {
  readonly #fed = new Set<string>();
  readonly #fetched = new Set<string>();

  /** `ended` is the end of its step; `cleanUp` ends it, and forgets its values. */
  constructor(
    private readonly exchange: PartialPlan,
    private readonly values: StepValues,
    private readonly ended: Promise<unknown>,
    readonly cleanUp: () => void,
  ) {}

  /** Whether everything has been fed and fetched. */
  get isComplete(): boolean {
    const { feedKeys, fetchKeys } = this.exchange;
    return this.#fed.size === feedKeys.size && this.#fetched.size === fetchKeys.size;
  }

  /** Throws for a piece that cannot run; it leaves the partial run as it was. */
  check({ feeds, fetches }: Plan): void {
    const { feedKeys, fetchKeys } = this.exchange;
    const [fed, fetched] = [new Set(this.#fed), new Set(this.#fetched)];
    for (const { name } of feeds) take(name, feedKeys, fed, 'feed', 'fed');
    for (const { name } of fetches) take(name, fetchKeys, fetched, 'fetch', 'fetched');
    const missing = new Set([...feedKeys.keys()].filter((name) => !fed.has(name)));
    for (const fetch of fetches) checkReach(fetch, missing);
  }

  /** Feeds and fetches a piece. The last one waits for the end of the step. */
  async run({ feeds, fetches }: Plan, tensors: readonly Tensor[], signal?: AbortSignal): Promise<Tensor[]> {
    const { feedKeys, fetchKeys } = this.exchange;
    for (const { name } of feeds) this.#fed.add(name);
    for (const { name } of fetches) this.#fetched.add(name);
    feeds.forEach(({ name }, i) => this.values.leave(feedKeys.get(name)!, { tensor: tensors[i] }));
    const results = await Promise.all(
      fetches.map(({ name }) => this.values.receive(fetchKeys.get(name)!, signal)),
    );
    if (this.isComplete) await this.ended;
    return results.map(({ tensor }, i) => {
      if (tensor) return tensor;
      throw new InvalidArgumentError(`The tensor returned for ${fetches[i]!.name} was not valid.`);
    });
  }
}

/** Adds a feed or a fetch to those that there were. */
function take(
  name: string,
  known: ReadonlyMap<string, string>,
  done: Set<string>,
  kind: string,
  participle: string,
): void {
  if (!known.has(name))
    throw new InvalidArgumentError(`The ${kind} ${name} was not specified in partial_run_setup.`);
  if (done.has(name)) throw new InvalidArgumentError(`The ${kind} ${name} has already been ${participle}.`);
  done.add(name);
}
