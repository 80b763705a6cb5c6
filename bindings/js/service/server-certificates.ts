/** The credentials of a server that encrypts its connections. */
import { InvalidArgumentError } from '../base/errors.js';
import { checkCertificates, pem } from '../master/certificates.js';
import type { GrpcCredentials } from '../master/grpc.js';

export interface Certificates {
  /** Of the authorities whose certificates clients need; null if clients need none. */
  readonly ca: Buffer | null;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export function certificatesOf({ rootCertificates, certificate, privateKey }: GrpcCredentials): Certificates {
  if (certificate === undefined || privateKey === undefined)
    throw new InvalidArgumentError('the credentials of a server need a certificate and its privateKey');
  const [ca, cert, key] = [pem(rootCertificates), pem(certificate)!, pem(privateKey)!];
  checkCertificates({ cert, key });
  return { ca, cert, key };
}
