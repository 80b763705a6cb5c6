/** CallAnswerer: answers the calls of one client, whatever carries their frames. */
import { TFError, codeNumber } from '../base/errors.js';
import type { AnswerFrame, ClientFrame, RequestFrame } from '../master/frames.js';
import type { Parcel } from '../master/transport.js';

/** As MasterService.call. */
export type Serve = (
  method: string,
  request: Parcel,
  signal: AbortSignal,
  carriesBuffers: boolean,
) => Promise<Parcel>;

/** What is said of an error that is no status. */
export const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

export class CallAnswerer {
  readonly #underWay = new Map<number, AbortController>();

  /**
   * `send` receives the answers. Only TFErrors are statuses of calls; `failed` is called with another error, such as
   * a trap of the engine: nothing can be served any more then.
   */
  constructor(
    private readonly serve: Serve,
    private readonly send: (frame: AnswerFrame) => void,
    private readonly failed: (error: Error) => void,
  ) {}

  receive(frame: ClientFrame): void {
    if ('cancel' in frame) this.#underWay.get(frame.cancel)?.abort();
    else void this.#answer(frame);
  }

  /** Ends the work of all calls, whose client is gone. */
  end(): void {
    for (const cancelling of this.#underWay.values()) cancelling.abort();
  }

  async #answer({ id, method, bytes, buffers }: RequestFrame): Promise<void> {
    const cancelling = new AbortController();
    this.#underWay.set(id, cancelling);
    try {
      this.send({ id, ...(await this.serve(method, { bytes, buffers }, cancelling.signal, true)) });
    } catch (error) {
      if (error instanceof TFError) this.send({ id, code: codeNumber(error.code), message: error.message });
      else this.failed(error as Error);
    } finally {
      this.#underWay.delete(id);
    }
  }
}
