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
import { type Scope, unsigned, type Wasm } from './wasm.js';

/** Receives what a step ran, as a serialised RunMetadata, when the step has ended or failed. */
export interface TraceReceiver {
  add(metadata: Uint8Array): void;
}

/** The inputs and results of a step, and the function that begins it. */
export interface StepRequest {
  readonly values: readonly Tensor[];
  readonly numResults: number;
  /** Milliseconds; 0: no deadline. */
  readonly timeoutMs: number;
  /** undefined: the step is not recorded. */
  readonly trace?: TraceReceiver | undefined;
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
    if (this.request.trace) this.record();
    const options: WasmStepOptionsPtr = scope.words([this.request.timeoutMs, sliceMs, this.recording]);
    this.paused = unsigned(this.request.start(scope, options, scope.pointers(this.inputs), results, status));
    return this.paused === 0 ? 0 : 1;
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
