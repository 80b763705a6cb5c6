/// <reference lib="esnext.disposable" preserve="true" />
/**
 * FunctionBody: a function with bound attrs. It can be printed, differentiated, optimised and run on its own.
 */
import { Schema, checkList, checkOptions, checkReceivers } from '../base/arguments.js';
import { showAs } from '../base/console-line.js';
import { DType, dtypeFromNumber } from '../tensor/dtypes.js';
import { FailedPreconditionError } from '../base/errors.js';
import { FunctionStep } from '../engine/function-step.js';
import type { WasmFunctionBodyPtr } from '../generated/abi.js';
import { withHint } from './hints.js';
import { Runtime, checkRuntime } from '../engine/runtime.js';
import { STEP_OPTIONS, StepOptions, StepQueue, checkSignal, timeoutOf } from '../engine/step-queue.js';
import { tensor } from '../tensor/convert.js';
import { Tensor, TensorLike } from '../tensor/tensor.js';

/** The passes of `optimize`; the first three are on by default. */
export interface BodyOptimizeOptions {
  /** Inlines calls, and removes nodes that nothing needs. */
  inline?: boolean;
  /** Computes nodes that follow from constants alone. */
  fold?: boolean;
  /** Computes common subexpressions once. */
  cse?: boolean;
  /** Makes one node of connected elementwise nodes, as sessions do. Such a body has no gradient. */
  fuse?: boolean;
}

const OPTIMIZE_OPTIONS: Schema<BodyOptimizeOptions> = {
  inline: 'true or false',
  fold: 'true or false',
  cse: 'true or false',
  fuse: 'true or false',
};

const DISPOSED = 'the function body has been disposed';

export class FunctionBody {
  readonly argTypes: readonly DType[];
  readonly retTypes: readonly DType[];
  readonly #runtime: Runtime;
  readonly #address: WasmFunctionBodyPtr;
  /** Shared by all bodies that share variables. */
  readonly #queue: StepQueue;
  /** Calls in progress. */
  readonly #calls = new Set<FunctionStep>();
  #disposed = false;

  /** Created by functionDef.instantiate(attrs): takes ownership of a TF_WasmFunctionBody. */
  constructor(runtime: Runtime, address: WasmFunctionBodyPtr, queue?: StepQueue) {
    this.#runtime = checkRuntime(runtime, 'FunctionBody', 'functionDef.instantiate(attrs)');
    this.#address = address;
    this.#queue = queue ?? new StepQueue(runtime.parts.side);
    const { call } = runtime.wasm;
    runtime.opened(this, 'functionBodies', address);
    const types = (count: number, type: (i: number) => number) =>
      Array.from({ length: count }, (_, i) => dtypeFromNumber(type(i)));
    this.argTypes = types(call.TF_WasmFunctionBodyNumArgs(address), (i) =>
      call.TF_WasmFunctionBodyArgType(address, i),
    );
    this.retTypes = types(call.TF_WasmFunctionBodyNumRets(address), (i) =>
      call.TF_WasmFunctionBodyRetType(address, i),
    );
  }

  private get pointer(): WasmFunctionBodyPtr {
    if (this.#disposed) throw new FailedPreconditionError(DISPOSED);
    this.#runtime.wasm.refuseInCallback();
    return this.#address;
  }

  /** The text of an instantiated body as TensorFlow prints it. */
  toString(): string {
    const { wasm } = this.#runtime;
    const { pointer } = this;
    return wasm.bufferText((buffer, status) => wasm.call.TF_WasmFunctionBodyText(pointer, buffer, status));
  }

  /**
   * The SymbolicGradient of the body. Its arguments are the body's arguments and a gradient for each result,
   * its results a gradient for each argument. An op without a known gradient is an error when it runs.
   */
  gradient(): FunctionBody {
    const { wasm } = this.#runtime;
    const { pointer } = this;
    return new FunctionBody(
      this.#runtime,
      wasm.made((status) => wasm.call.TF_WasmFunctionBodyGradient(pointer, status)),
      this.#queue,
    );
  }

  /** A body that computes the same with fewer nodes. This body stays unchanged. */
  optimize(options: BodyOptimizeOptions = {}): FunctionBody {
    checkOptions<BodyOptimizeOptions>('optimize', options, OPTIMIZE_OPTIONS);
    const { inline = true, fold = true, cse = true, fuse = false } = options;
    const { wasm } = this.#runtime;
    const { pointer } = this;
    return new FunctionBody(
      this.#runtime,
      wasm.made((status) =>
        wasm.call.TF_WasmFunctionBodyOptimize(
          pointer,
          Number(inline),
          Number(fold),
          Number(cse),
          Number(fuse),
          status,
        ),
      ),
      this.#queue,
    );
  }

  /**
   * Calls the function. Variables and other resources persist from call to call, shared with gradients and
   * optimised forms of the body. Like a step of a session, a call yields to the event loop every 10 ms, and
   * later calls wait for it.
   */
  run(args?: readonly TensorLike[], options: StepOptions = {}): Promise<Tensor[]> {
    try {
      const step = this.prepare(args, options);
      return this.#queue.run(
        step,
        () => this.answer(step),
        options,
        () => undefined,
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * The synchronous form of `run`: returns when the call has ended. A running call of `run` is completed
   * first.
   */
  runSync(args?: readonly TensorLike[], options: StepOptions = {}): Tensor[] {
    const step = this.prepare(args, options);
    this.#queue.runAtOnce(step);
    return this.answer(step);
  }

  /** Checks the arguments, and copies them into the engine. */
  private prepare(args: readonly TensorLike[] = [], options: StepOptions): FunctionStep {
    const { pointer } = this;
    checkList('the arguments of a function', args);
    checkOptions<StepOptions>('run', options, STEP_OPTIONS);
    checkSignal(options);
    const values = Array.from(args as readonly TensorLike[], (arg, i) =>
      arg instanceof Tensor ? arg : tensor(arg, undefined, this.argTypes[i]),
    );
    const step = new FunctionStep(
      this.#runtime.wasm,
      pointer,
      values,
      this.retTypes.length,
      timeoutOf(options),
    );
    this.#calls.add(step);
    return step;
  }

  private answer(step: FunctionStep): Tensor[] {
    this.#calls.delete(step);
    try {
      return step.values;
    } catch (error) {
      throw withHint(error, this.#runtime);
    }
  }

  /** Frees the body, and ends its running calls. It must not be used any more; bodies derived from it may. */
  dispose(): void {
    if (this.#disposed) return;
    this.#runtime.wasm.refuseInCallback();
    this.#disposed = true;
    for (const step of this.#calls) step.abandon(new FailedPreconditionError(DISPOSED));
    this.#runtime.closed(this, 'functionBodies');
    this.#runtime.wasm.call.TF_WasmDeleteFunctionBody(this.#address);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

checkReceivers(FunctionBody, 'body');
showAs(
  FunctionBody,
  'FunctionBody',
  ({ argTypes, retTypes }) => `FunctionBody<(${argTypes.join(', ')}) -> (${retTypes.join(', ')})>`,
);
