// A server of the MasterService over gRPC for the specs: this package's service, or what a spec answers in its place.
import { readFileSync } from 'node:fs';
import grpc from '@grpc/grpc-js';
import { init, MasterService, runtimeOf } from '../../build/js/service.js';

const METHODS = [
  ...['CreateSession', 'ExtendSession', 'RunStep', 'PartialRunSetup', 'CloseSession', 'Reset', 'ListDevices'],
  ...['MakeCallable', 'RunCallable', 'ReleaseCallable'],
];
const CODES = grpc.status;

export const pem = (name) => readFileSync(new URL(`../data/tls/${name}.pem`, import.meta.url));

/** The credentials of a server with TLS; it asks clients for certificates, too, if `mutual`. */
export const tlsCredentials = (mutual) =>
  grpc.ServerCredentials.createSsl(
    pem('root'),
    [{ private_key: pem('server-key'), cert_chain: pem('server') }],
    mutual,
  );

const isError = (error) => typeof error?.code === 'string' && error.code in CODES;

/**
 * Starts a server. `answer(method, bytes, next)` gives the bytes of a response; `next()` is that of the package's
 * service. Returns its target, the names of the methods that were called, and `close`.
 */
export async function serveGrpc({ credentials, answer = (_method, _bytes, next) => next() } = {}) {
  const tf = await init({ threads: 1, wasm: new URL('../../npm/dist/', import.meta.url) });
  const service = new MasterService(runtimeOf(tf));
  const calls = [];
  const handler = (method) => async (call, done) => {
    calls.push(method);
    const ending = new AbortController();
    call.on('cancelled', () => ending.abort());
    const bytes = new Uint8Array(call.request);
    const next = async () =>
      (await service.table.call(method, { bytes, buffers: [] }, ending.signal, false)).bytes;
    try {
      done(null, Buffer.from(await answer(method, bytes, next)));
    } catch (error) {
      done(isError(error) ? { code: CODES[error.code], details: error.message } : error);
    }
  };
  const same = (bytes) => bytes;
  const definitions = METHODS.map((name) => [
    name,
    {
      path: `/tensorflow.MasterService/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  ]);
  const server = new grpc.Server({
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  server.addService(
    Object.fromEntries(definitions),
    Object.fromEntries(METHODS.map((name) => [name, handler(name)])),
  );
  const port = await new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials ?? grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { target: `grpc://localhost:${port}`, port, calls, close: () => server.forceShutdown() };
}
