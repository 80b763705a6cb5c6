/// <reference lib="esnext.disposable" preserve="true" />
/** FunctionBody: a function with its attrs bound. It is printed, differentiated, optimised and run on its own. */
import { Schema, checkList, checkOptions, checkReceivers } from './arguments.js';
import { showAs } from './console-line.js';
import { DType, dtypeFromNumber } from './dtypes.js';
import { FailedPreconditionError } from './errors.js';
import { withHint } from './hints.js';
import { Runtime, checkRuntime } from './runtime.js';
import { Tensor, TensorLike, tensor } from './tensor.js';
import { readTensor, uploadTensor } from './transfer.js';

/** What `optimize` does; all of it unless it is switched off. */
export interface BodyOptimizeOptions {
  /** Puts the bodies of called functions in place of calls, and removes what nothing needs. */
  inline?: boolean;
  /** Computes what follows from constants alone. */
  fold?: boolean;
  /** Computes common subexpressions once. */
  cse?: boolean;
}

const OPTIMIZE_OPTIONS: Schema<BodyOptimizeOptions> = { inline: 'true or false', fold: 'true or false', cse: 'true or false' };

export class FunctionBody {
  readonly argTypes: readonly DType[];
  readonly retTypes: readonly DType[];
  readonly #runtime: Runtime;
  readonly #address: number;
  #disposed = false;

  /** Made by functionDef.instantiate(attrs): takes a TF_WasmFunctionBody over. */
  constructor(runtime: Runtime, address: number) {
    this.#runtime = checkRuntime(runtime, 'FunctionBody', 'functionDef.instantiate(attrs)');
    this.#address = address;
    const { call } = runtime.wasm;
    runtime.opened(this, 'functionBodies', address, 'TF_WasmDeleteFunctionBody');
    const types = (count: number, type: string) => Array.from({ length: count }, (_, i) => dtypeFromNumber(call[type]!(address, i)));
    this.argTypes = types(call.TF_WasmFunctionBodyNumArgs!(address), 'TF_WasmFunctionBodyArgType');
    this.retTypes = types(call.TF_WasmFunctionBodyNumRets!(address), 'TF_WasmFunctionBodyRetType');
  }

  private get pointer(): number {
    if (this.#disposed) throw new FailedPreconditionError('the function body has been disposed');
    this.#runtime.wasm.refuseInCallback();
    return this.#address;
  }

  /** As TensorFlow prints an instantiated body. */
  toString(): string {
    const { wasm } = this.#runtime;
    const { pointer } = this;
    return wasm.bufferText((buffer, status) => wasm.call.TF_WasmFunctionBodyText!(pointer, buffer, status));
  }

  /**
   * SymbolicGradient of the body: its arguments are those of the body and a gradient for each result, its results a gradient for each argument.
   * An op of which no gradient is known is an error when it runs.
   */
  gradient(): FunctionBody {
    const { wasm } = this.#runtime;
    const { pointer } = this;
    return new FunctionBody(this.#runtime, wasm.made((status) => wasm.call.TF_WasmFunctionBodyGradient!(pointer, status)));
  }

  /** A body that computes the same with fewer nodes. This one stays as it is. */
  optimize(options: BodyOptimizeOptions = {}): FunctionBody {
    checkOptions<BodyOptimizeOptions>('optimize', options, OPTIMIZE_OPTIONS);
    const { inline = true, fold = true, cse = true } = options;
    const { wasm } = this.#runtime;
    const { pointer } = this;
    return new FunctionBody(
      this.#runtime, wasm.made((status) => wasm.call.TF_WasmFunctionBodyOptimize!(pointer, inline ? 1 : 0, fold ? 1 : 0, cse ? 1 : 0, status)),
    );
  }

  /** Calls the function. Variables and other resources last from call to call, shared with gradients and optimised forms of the body. */
  async run(args: readonly TensorLike[] = []): Promise<Tensor[]> {
    return this.runSync(args);
  }

  /** As `run`, at once. */
  runSync(args: readonly TensorLike[] = []): Tensor[] {
    const { pointer } = this;
    checkList('the arguments of a function', args);
    const values = Array.from(args as readonly TensorLike[], (arg, i) => (arg instanceof Tensor ? arg : tensor(arg, undefined, this.argTypes[i])));
    try {
      return this.call(pointer, values);
    } catch (error) {
      throw withHint(error, this.#runtime);
    }
  }

  private call(pointer: number, values: readonly Tensor[]): Tensor[] {
    const { wasm } = this.#runtime;
    return wasm.scope((scope) => {
      const inputs: number[] = [];
      const results = scope.alloc(4 * this.retTypes.length);
      try {
        for (const value of values) inputs.push(uploadTensor(wasm, scope, value));
        wasm.checked((status) => wasm.call.TF_WasmFunctionBodyRun!(pointer, scope.pointers(inputs), inputs.length, results, status));
      } finally {
        for (const input of inputs) wasm.call.TF_DeleteTensor!(input);
      }
      const rets = this.retTypes.map((_, i) => wasm.u32[(results >>> 2) + i]!);
      try {
        return rets.map((ret) => readTensor(wasm, ret));
      } finally {
        for (const ret of rets) wasm.call.TF_DeleteTensor!(ret);
      }
    });
  }

  /** Frees the body. It must not be used any more; those made of it may. */
  dispose(): void {
    if (this.#disposed) return;
    this.#runtime.wasm.refuseInCallback();
    this.#disposed = true;
    this.#runtime.closed(this, 'functionBodies');
    this.#runtime.wasm.call.TF_WasmDeleteFunctionBody!(this.#address);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

checkReceivers(FunctionBody, 'body');
showAs(FunctionBody, 'FunctionBody', ({ argTypes, retTypes }) => `FunctionBody<(${argTypes.join(', ')}) -> (${retTypes.join(', ')})>`);
