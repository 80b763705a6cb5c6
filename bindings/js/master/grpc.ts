/**
 * What a client and a server of TensorFlow's services need of gRPC: the package, the paths of methods, the settings of
 * connections, and credentials.
 */
import { Schema, checkOptions, shown } from '../base/arguments.js';
import { InvalidArgumentError } from '../base/errors.js';
import { optionalPackage } from '../base/optional-package.js';
import { pem } from './certificates.js';

/** How a call ended: google.rpc.Code and the message. */
export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
}

export interface GrpcCall {
  cancel(): void;
}

export interface GrpcClient {
  makeUnaryRequest(
    path: string,
    serialize: (request: Uint8Array) => Uint8Array,
    deserialize: (response: Uint8Array) => Uint8Array,
    request: Uint8Array,
    options: { readonly deadline?: number },
    done: (status: GrpcStatus | null, response?: Uint8Array) => void,
  ): GrpcCall;
  close(): void;
}

type Settings = Readonly<Record<string, number>>;

/** What is used of the package @grpc/grpc-js. */
export interface GrpcModule {
  readonly Client: new (address: string, credentials: object, settings: Settings) => GrpcClient;
  readonly credentials: {
    createInsecure(): object;
    createSsl(
      rootCertificates: Uint8Array | null,
      privateKey: Uint8Array | null,
      certificateChain: Uint8Array | null,
    ): object;
  };
}

/** The package, which users install if they need it. */
export const loadGrpc = optionalPackage<GrpcModule>('@grpc/grpc-js', 'targets grpc:// need the package');

/** '/tensorflow.MasterService/RunStep' of 'RunStep'; methods of other services are named with these. */
export const methodPath = (method: string): string =>
  `/tensorflow.${method.includes('/') ? method : `MasterService/${method}`}`;

/**
 * Settings of both sides. Tensors are longer than the 4 MB that gRPC receives by default. With the window of 64 KiB a
 * large tensor from a distant machine would wait for each round trip.
 */
export const CONNECTION: Settings = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc-node.flow_control_window': 1 << 23,
};

/** Certificates and keys in PEM format. */
export interface GrpcCredentials {
  /** Of the authorities that the client trusts; without it those of Node. */
  readonly rootCertificates?: string | Uint8Array;
  /** The client's own certificate and its key, if the server asks for them. */
  readonly certificate?: string | Uint8Array;
  readonly privateKey?: string | Uint8Array;
}

const CREDENTIALS: Schema<GrpcCredentials> = {
  rootCertificates: 'anything',
  certificate: 'anything',
  privateKey: 'anything',
};

/** Throws unless they can be used. */
export function checkCredentials(credentials: GrpcCredentials): void {
  checkOptions<GrpcCredentials>('credentials', credentials, CREDENTIALS);
  for (const [name, value] of Object.entries(credentials))
    if (value !== undefined && typeof value !== 'string' && !(value instanceof Uint8Array))
      throw new InvalidArgumentError(
        `credentials.${name} must be the text or the bytes of a PEM file, not ${shown(value)}`,
      );
  if ((credentials.certificate === undefined) !== (credentials.privateKey === undefined))
    throw new InvalidArgumentError('credentials need both certificate and privateKey, or none of them');
}

/** A client's credentials: TLS with them, an open connection without. */
export function channelCredentials(grpc: GrpcModule, credentials: GrpcCredentials | undefined): object {
  if (!credentials) return grpc.credentials.createInsecure();
  const { rootCertificates, privateKey, certificate } = credentials;
  try {
    return grpc.credentials.createSsl(pem(rootCertificates), pem(privateKey), pem(certificate));
  } catch (error) {
    throw new InvalidArgumentError(`the credentials are not valid: ${(error as Error).message}`);
  }
}
