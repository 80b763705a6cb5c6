/** Certificates and keys as Node takes them. */
import type { SecureContextOptions } from 'node:tls';
import { InvalidArgumentError } from '../base/errors.js';
import { nodeModule } from '../base/host.js';

/** A PEM file, from its text or its bytes. */
export const pem = (text: string | Uint8Array | undefined): Buffer | null =>
  text === undefined ? null : Buffer.from(text as Uint8Array);

/** Throws unless TLS can use them. Connections and servers try that later, when nobody learns of the error. */
export function checkCertificates(files: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>): void {
  try {
    nodeModule('node:tls').createSecureContext(files);
  } catch (error) {
    throw new InvalidArgumentError(`the credentials are not valid: ${(error as Error).message}`);
  }
}
