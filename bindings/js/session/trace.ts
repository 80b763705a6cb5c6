/** Trace: which nodes steps ran, and how long each took. */
import { checkReceivers, Schema } from '../base/arguments.js';
import { columns } from '../base/columns.js';
import { showAs } from '../base/console-line.js';
import { InvalidArgumentError } from '../base/errors.js';
import { STEP_OPTIONS, StepOptions } from '../engine/step-queue.js';
import { Field, fieldsOf, intOf, textOf } from '../messages/protobuf.js';
import { dtypeAttrFromNumber } from '../tensor/dtypes.js';

export interface TracedStepOptions extends StepOptions {
  /**
   * Records what the step runs, also if it fails: in a Trace, or (true) in a new one, `session.lastTrace`. A
   * Trace that several steps are given has all of them.
   */
  trace?: boolean | Trace;
}

export const TRACED_STEP_OPTIONS: Schema<TracedStepOptions> = { trace: 'anything', ...STEP_OPTIONS };

/** The Trace that an option `trace` means. */
export function traceOf(trace: TracedStepOptions['trace']): Trace | undefined {
  if (trace instanceof Trace) return trace;
  if (trace !== undefined && typeof trace !== 'boolean')
    throw new InvalidArgumentError('trace must be true or a Trace: const trace = new tf.Trace()');
  return trace ? new Trace() : undefined;
}

/** One execution of a node. */
export interface TraceRecord {
  /** The node's name, in the function that it is in. */
  readonly node: string;
  /** Its op, or the function that it calls. */
  readonly op: string;
  /** 'y = MatMul(x, w)'; before it '[cpu 1.5MB 1.0MB] ', what it allocated in all and at a time, if that is much. */
  readonly label: string;
  readonly device: string;
  /** Microseconds since the first record of the trace. */
  readonly start: number;
  /** Microseconds, with the functions that it calls. */
  readonly duration: number;
  /** Bytes that it allocated. */
  readonly allocated: number;
  readonly outputs: readonly { readonly dtype: string; readonly shape: readonly number[] }[];
}

/** What the nodes of one op took together. Times are in milliseconds. */
export interface OpTime {
  readonly op: string;
  readonly count: number;
  /** Without the functions that the nodes call. */
  readonly self: number;
  readonly total: number;
  /** Of the time of all nodes, from 0 to 1. */
  readonly share: number;
}

/** The Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open. */
export interface ChromeTrace {
  readonly displayTimeUnit: 'ms';
  readonly traceEvents: readonly ChromeEvent[];
}

export interface ChromeEvent {
  readonly name: string;
  /** 'X': a node that ran; 'M': the name of a device. */
  readonly ph: 'X' | 'M';
  readonly cat?: string;
  /** Microseconds. */
  readonly ts?: number;
  readonly dur?: number;
  readonly pid: number;
  readonly tid: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** TensorFlow's NodeExecStats, as far as it is of use here. */
interface NodeStats {
  node: string;
  label: string;
  startNanos: bigint;
  nanos: number;
  allocated: number;
  outputs: { dtype: string; shape: number[] }[];
}

function outputOf(bytes: Uint8Array): { dtype: string; shape: number[] } {
  const output = { dtype: '', shape: [] as number[] };
  for (const field of messagesIn(bytes, 3)) {
    for (const { number, value, bytes: inner } of fieldsOf(field)) {
      if (number === 1) output.dtype = dtypeAttrFromNumber(Number(value));
      if (number === 2) output.shape = messagesIn(inner, 2).map(sizeOfDim);
    }
  }
  return output;
}

const messagesIn = (bytes: Uint8Array, number: number): Uint8Array[] =>
  [...fieldsOf(bytes)].filter((field) => field.number === number).map((field) => field.bytes);

const sizeOfDim = (bytes: Uint8Array): number => {
  const size = [...fieldsOf(bytes)].find((field) => field.number === 1);
  return size ? intOf(size) : 0;
};

function addStats(stats: NodeStats, field: Field): void {
  if (field.number === 1) stats.node = textOf(field);
  if (field.number === 6)
    for (const inner of fieldsOf(field.bytes)) if (inner.number === 2) stats.allocated += intOf(inner);
  if (field.number === 7) stats.outputs.push(outputOf(field.bytes));
  if (field.number === 8) stats.label = textOf(field);
  if (field.number === 13) stats.startNanos = field.value;
  if (field.number === 15) stats.nanos = Number(field.value);
}

function statsOf(bytes: Uint8Array): NodeStats {
  const stats: NodeStats = { node: '', label: '', startNanos: 0n, nanos: 0, allocated: 0, outputs: [] };
  for (const field of fieldsOf(bytes)) addStats(stats, field);
  return stats;
}

/** Of 'y = MatMul(x, w)': 'MatMul'. What is no node, such as the transfer of a tensor, has only a name. */
function opOf({ node, label }: NodeStats): string {
  const start = label.indexOf(`${node} = `);
  if (start < 0) return node;
  const equation = label.slice(start + node.length + 3);
  return equation.slice(0, equation.indexOf('('));
}

/** They have a record but no kernel. */
const WITHOUT_KERNEL = new Set(['Const', '_Arg', '_Retval']);

export class Trace {
  readonly #records: TraceRecord[] = [];
  /** When the first node began, in nanoseconds since 1970. */
  #origin: bigint | undefined;

  /** The nodes that ran, in the order in which they ended; a function's nodes precede the node that called it. */
  get records(): readonly TraceRecord[] {
    return this.#records;
  }

  /** @internal Adds the records of a step: a serialised RunMetadata. */
  add(metadata: Uint8Array): void {
    for (const stepStats of messagesIn(metadata, 1))
      for (const device of messagesIn(stepStats, 1)) this.addDevice(device);
  }

  private addDevice(bytes: Uint8Array): void {
    let device = '';
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) device = textOf(field);
      if (field.number !== 2) continue;
      const stats = statsOf(field.bytes);
      this.#origin ??= stats.startNanos;
      const op = opOf(stats);
      if (stats.node === '_SOURCE' || WITHOUT_KERNEL.has(op)) continue;
      const { node, label, allocated, outputs } = stats;
      const start = Number(stats.startNanos - this.#origin) / 1000;
      this.#records.push({
        node,
        op,
        label,
        device,
        start,
        duration: stats.nanos / 1000,
        allocated,
        outputs,
      });
    }
  }

  /** The ops by the time that they took themselves, the longest first. */
  ops(): OpTime[] {
    const times = new Map<string, { count: number; self: number; total: number }>();
    const selfTimes = this.selfTimes();
    this.#records.forEach(({ op, duration }, i) => {
      const time = times.get(op) ?? { count: 0, self: 0, total: 0 };
      time.count++;
      time.self += selfTimes[i]! / 1000;
      time.total += duration / 1000;
      times.set(op, time);
    });
    const all = [...times.values()].reduce((sum, time) => sum + time.self, 0);
    return [...times]
      .map(([op, time]) => ({ op, ...time, share: all > 0 ? time.self / all : 0 }))
      .sort((a, b) => b.self - a.self);
  }

  /** A text of one line per op, the longest first. */
  table(): string {
    const rows = this.ops().map(({ op, count, self, total, share }) => [
      op,
      String(count),
      self.toFixed(3),
      `${(100 * share).toFixed(1)} %`,
      total.toFixed(3),
    ]);
    return columns([['op', 'count', 'self ms', 'share', 'total ms'], ...rows], { right: [1, 2, 3, 4] });
  }

  /** For Perfetto: write `JSON.stringify(trace.chromeTrace())` to a file, and open it there. */
  chromeTrace(): ChromeTrace {
    const devices = [...new Set(this.#records.map(({ device }) => device))];
    const names = devices.map(
      (name, pid): ChromeEvent => ({ name: 'process_name', ph: 'M', pid, tid: 0, args: { name } }),
    );
    const events = this.#records.map(
      ({ node, op, label, device, start, duration, allocated, outputs }): ChromeEvent => ({
        name: op,
        cat: 'op',
        ph: 'X',
        ts: start,
        dur: duration,
        pid: devices.indexOf(device),
        tid: 0,
        args: {
          node,
          label,
          allocated,
          outputs: outputs.map(({ dtype, shape }) => `${dtype} [${shape.join(',')}]`),
        },
      }),
    );
    return { displayTimeUnit: 'ms', traceEvents: [...names, ...events.sort((a, b) => a.ts! - b.ts!)] };
  }

  /** The duration of each record without those within it. A node's functions run on its device. */
  private selfTimes(): number[] {
    const self = this.#records.map(({ duration }) => duration);
    const open = new Map<string, number[]>(); // by device: records that the ones before them called, by their ends
    this.#records.forEach(({ device, start, duration }, i) => {
      const before = open.get(device) ?? [];
      while (before.length > 0 && this.#records[before[before.length - 1]!]!.start >= start)
        self[i]! -= Math.min(duration, this.#records[before.pop()!]!.duration);
      before.push(i);
      open.set(device, before);
    });
    return self.map((time) => Math.max(0, time));
  }

  /** 'Trace<of 12 nodes, 3.2 ms>' */
  toString(): string {
    const total = this.ops().reduce((sum, { self }) => sum + self, 0);
    return `Trace<of ${this.#records.length} nodes, ${total.toFixed(1)} ms>`;
  }
}

checkReceivers(Trace, 'trace');
showAs(Trace, 'Trace', (trace) => trace.toString());
