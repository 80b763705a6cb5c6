/** SessionStep: a step of a session, a call of a callable, or a piece of a partial run. */
import type {
  Null,
  Ptr,
  StatusPtr,
  TensorPtr,
  WasmStepOptionsPtr,
  WasmStepPtr,
  WasmTracePtr,
} from '../generated/abi.js';
import { ResourceExhaustedError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import { Step } from './step.js';
import type { TaskRendezvous } from './task-rendezvous.js';
import { type Scope, unsigned, type Wasm } from './wasm.js';

/** Receives what a step ran, as a serialised RunMetadata, when the step has ended or failed. */
export interface TraceReceiver {
  add(metadata: Uint8Array): void;
}

/** Carries values between a step and other tasks. */
export interface Exchange {
  readonly rendezvous: TaskRendezvous;
  /** Called when the step has run for a while: it may have sent values, or wait for some. */
  advanced(): void;
}

/** The inputs and results of a step, and the function that begins it. */
export interface StepRequest {
  readonly values: readonly Tensor[];
  readonly numResults: number;
  /** Milliseconds; 0: no deadline. */
  readonly timeoutMs: number;
  /** undefined: the step is not recorded. */
  readonly trace?: TraceReceiver | undefined;
  /** undefined: no other task takes part. */
  readonly exchange?: Exchange | undefined;
  /** The value of a TF_Tensor that the step has given, which it owns; undefined: a copy. */
  readonly receive?: ((pointer: TensorPtr) => Tensor) | undefined;
  /** Runs the first slice. Returns the engine's step if it paused, else 0. */
  readonly start: (
    scope: Scope,
    options: WasmStepOptionsPtr,
    values: Ptr<TensorPtr>,
    results: Ptr<TensorPtr>,
    status: StatusPtr,
  ) => WasmStepPtr | Null;
}

export class SessionStep extends Step {
  protected readonly numResults: number;
  /** The engine's step while it is paused, else 0. */
  private paused: WasmStepPtr | Null = 0;
  /** The engine's records of a step that has begun, if they are wanted. */
  private recording: WasmTracePtr | Null = 0;

  constructor(
    wasm: Wasm,
    private readonly request: StepRequest,
  ) {
    super(wasm, request.values);
    this.numResults = request.numResults;
  }

  protected runSlice(scope: Scope, sliceMs: number, results: Ptr<TensorPtr>, status: StatusPtr): number {
    if (this.paused !== 0) {
      const pauses = this.wasm.call.TF_WasmResumeStep(this.paused, sliceMs, results, this.numResults, status);
      if (pauses === 0) this.paused = 0;
      return pauses;
    }
    const { trace, timeoutMs, exchange } = this.request;
    if (trace) this.record();
    const options: WasmStepOptionsPtr = scope.words([
      timeoutMs,
      sliceMs,
      this.recording,
      exchange?.rendezvous.pointer ?? 0,
    ]);
    this.paused = unsigned(this.request.start(scope, options, scope.pointers(this.inputs), results, status));
    return this.paused === 0 ? 0 : 1;
  }

  override advance(sliceMs: number): void {
    super.advance(sliceMs);
    this.request.exchange?.advanced();
  }

  protected override receive(pointer: TensorPtr): Tensor {
    return this.request.receive ? this.request.receive(pointer) : super.receive(pointer);
  }

  protected isBlocked(): boolean {
    return this.paused !== 0 && this.wasm.call.TF_WasmStepIsBlocked(this.paused) !== 0;
  }

  protected release(): void {
    if (this.paused !== 0) this.wasm.call.TF_WasmAbandonStep(this.paused);
    this.paused = 0;
    if (this.recording !== 0) this.giveRecords(this.recording);
    this.recording = 0;
  }

  private record(): void {
    this.recording = unsigned(this.wasm.call.TF_WasmNewTrace());
    if (this.recording === 0) throw new ResourceExhaustedError('OOM when allocating a trace');
  }

  private giveRecords(recording: WasmTracePtr): void {
    const { call } = this.wasm;
    try {
      this.request.trace?.add(
        this.wasm.buffer((buffer, status) => call.TF_WasmTraceMetadata(recording, buffer, status)),
      );
    } finally {
      call.TF_WasmDeleteTrace(recording);
    }
  }
}
