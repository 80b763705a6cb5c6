/** The options of the steps of a session, in all their forms. */
import type { Schema } from '../base/arguments.js';
import { TRACED_STEP_OPTIONS, TracedStepOptions } from './trace.js';

export interface SessionStepOptions extends TracedStepOptions {
  /**
   * The results stay in the engine: they are resident tensors, which later steps are fed without a copy, and
   * whose `data` is copied out when it is first read. Dispose them (`using y = ...`), or leave them to the
   * garbage collector. The engine of a session with a target is elsewhere: its results are always copies.
   */
  keep?: boolean;
}

export const SESSION_STEP_OPTIONS: Schema<SessionStepOptions> = {
  keep: 'true or false',
  ...TRACED_STEP_OPTIONS,
};
