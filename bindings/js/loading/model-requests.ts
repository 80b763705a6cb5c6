/** The requests of a model's files, for models on a server. */
import { InvalidArgumentError } from '../base/errors.js';
import { isNode } from '../base/host.js';

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Options of `fetch`, such as headers and credentials. */
  readonly requestInit?: RequestInit | undefined;
}

/** What `fetch` takes; undefined for a path in Node. */
export function addressOf(source: string | URL): URL | undefined {
  const text = String(source);
  if (text === '')
    throw new InvalidArgumentError('a model is opened by its address or its path, which is empty');
  if (isNode && (text.startsWith('file:') || !/^[a-z][a-z+.-]+:/i.test(text))) return undefined;
  return new URL(text, globalThis.location?.href);
}

/** An address that ends with '/' is a folder. */
const isFile = ({ protocol, pathname }: URL): boolean =>
  /^https?:$/.test(protocol) && !pathname.endsWith('/');

export class ModelRequests {
  #begun: { readonly href: string; readonly response: Promise<Response> } | undefined;

  constructor(private readonly options: RequestOptions) {}

  get isAborted(): boolean {
    return this.options.signal?.aborted ?? false;
  }

  /**
   * Sends the request of the file that a source names, if it is one of a server: while it is answered, the code that
   * reads models can be loaded, which is a file of its own. Call `end` when the model has been read.
   */
  begin(source: unknown): void {
    const address = typeof source === 'string' || source instanceof URL ? addressOf(source) : undefined;
    if (!address || !isFile(address)) return;
    const response = this.#send(address);
    response.catch(() => undefined); // the reader of the file gets the error
    this.#begun = { href: address.href, response };
  }

  fetch(address: URL): Promise<Response> {
    const begun = this.#begun?.href === address.href ? this.#take() : undefined;
    return begun ?? this.#send(address);
  }

  /** Cancels a request that nobody has read. */
  end(): void {
    this.#take()
      ?.then(({ body }) => body?.cancel())
      .catch(() => undefined);
  }

  #send(address: URL): Promise<Response> {
    const { requestInit, signal } = this.options;
    return fetch(address, { ...requestInit, signal: signal ?? null });
  }

  #take(): Promise<Response> | undefined {
    const response = this.#begun?.response;
    this.#begun = undefined;
    return response;
  }
}
