/** GrpcServer: serves calls of a MasterService through gRPC, in Node: the other end of a GrpcTransport. */
import { InternalError, TFError, UnavailableError, codeNumber } from '../base/errors.js';
import { CONNECTION, GrpcCredentials, GrpcModule, GrpcStatus, loadGrpc, methodPath } from '../master/grpc.js';
import type { Serve } from './answer-calls.js';
import { derivedDetails, isDerived } from './derived-errors.js';
import { certificatesOf } from './server-certificates.js';
import { shortened } from './shortened.js';

interface ServedCall {
  readonly request: Uint8Array;
  on(event: 'cancelled', listener: () => void): void;
}

interface Metadata {
  set(key: string, value: Uint8Array): void;
}

type ServedStatus = GrpcStatus & { readonly metadata?: Metadata };

type Handler = (call: ServedCall, done: (status: ServedStatus | null, response?: Uint8Array) => void) => void;

interface ServedMethod {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: false;
  requestSerialize(request: Uint8Array): Uint8Array;
  requestDeserialize(bytes: Uint8Array): Uint8Array;
  responseSerialize(response: Uint8Array): Uint8Array;
  responseDeserialize(bytes: Uint8Array): Uint8Array;
}

interface Listener {
  addService(methods: Record<string, ServedMethod>, handlers: Record<string, Handler>): void;
  bindAsync(address: string, credentials: object, bound: (error: Error | null, port: number) => void): void;
  forceShutdown(): void;
}

/** What a server uses of the package @grpc/grpc-js besides. */
interface ServingModule extends GrpcModule {
  readonly Metadata: new () => Metadata;
  readonly Server: new (settings: typeof CONNECTION) => Listener;
  readonly ServerCredentials: {
    createInsecure(): object;
    createSsl(
      rootCertificates: Uint8Array | null,
      pairs: { private_key: Uint8Array; cert_chain: Uint8Array }[],
      checkClients: boolean,
    ): object;
  };
}

/** Messages of a status travel in headers, which hold 8 KB and escape characters: each byte becomes three. */
const MOST_CHARACTERS = 3072;
const MOST_HEADER_BYTES = 7168;

function fittingMessage(message: string): string {
  const begin = shortened(message, MOST_CHARACTERS);
  return encodeURI(begin).length <= MOST_HEADER_BYTES ? begin : shortened(message, MOST_CHARACTERS / 4);
}

function statusOf(grpc: ServingModule, error: TFError): ServedStatus {
  const status = { code: codeNumber(error.code), details: fittingMessage(error.message) };
  if (!isDerived(error)) return status;
  const metadata = new grpc.Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(derivedDetails()));
  return { ...status, metadata };
}

const toBuffer = ({ buffer, byteOffset, length }: Uint8Array): Uint8Array =>
  Buffer.from(buffer, byteOffset, length);
const fromBuffer = ({ buffer, byteOffset, length }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, length);

function serverCredentials(grpc: ServingModule, credentials: GrpcCredentials | undefined): object {
  if (!credentials) return grpc.ServerCredentials.createInsecure();
  const { ca, cert, key } = certificatesOf(credentials);
  return grpc.ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], ca !== null);
}

export class GrpcServer {
  private constructor(
    private readonly listener: Listener,
    /** The port on which it listens. */
    readonly port: number,
  ) {}

  /**
   * Listens on an address, 'host:port'; port 0 is any free one. `failed` is called with an error that is no status
   * of a call, such as a trap of the engine: nothing can be served any more then.
   */
  static async listen(
    address: string,
    credentials: GrpcCredentials | undefined,
    methods: Iterable<string>,
    serve: Serve,
    failed: (error: Error) => void,
  ): Promise<GrpcServer> {
    const grpc = (await loadGrpc()) as ServingModule;
    const listener = new grpc.Server(CONNECTION);
    const definitions: Record<string, ServedMethod> = {};
    const handlers: Record<string, Handler> = {};
    for (const method of methods) {
      definitions[method] = {
        path: methodPath(method),
        requestStream: false,
        responseStream: false,
        requestSerialize: toBuffer,
        requestDeserialize: fromBuffer,
        responseSerialize: toBuffer,
        responseDeserialize: fromBuffer,
      };
      handlers[method] = handlerOf(grpc, method, serve, failed);
    }
    listener.addService(definitions, handlers);
    const port = await new Promise<number>((resolve, reject) =>
      listener.bindAsync(address, serverCredentials(grpc, credentials), (error, bound) =>
        error
          ? reject(new UnavailableError(`the server cannot listen on ${address}: ${error.message}`))
          : resolve(bound),
      ),
    );
    return new GrpcServer(listener, port);
  }

  /** Ends all connections, and with them the calls under way. */
  close(): void {
    this.listener.forceShutdown();
  }
}

/** A client that cancels its call, or is gone, ends the work of it. */
const handlerOf =
  (grpc: ServingModule, method: string, serve: Serve, failed: (error: Error) => void): Handler =>
  (call, done) => {
    const cancelling = new AbortController();
    call.on('cancelled', () => cancelling.abort());
    serve(method, { bytes: call.request, buffers: [] }, cancelling.signal, false).then(
      ({ bytes }) => done(null, bytes),
      (error: Error) => {
        if (error instanceof TFError) return done(statusOf(grpc, error));
        done(statusOf(grpc, new InternalError(`${error.name}: ${error.message}`)));
        failed(error);
      },
    );
  };
