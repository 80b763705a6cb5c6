// The master messages, the service that answers them and the client of it, for tests that speak to it themselves:
// tools/bundle.mjs writes build/js/service.js.
export { init } from '../../bindings/js/init.js';
export { runtimeOf } from '../../bindings/js/tf.js';
export * as master from '../../bindings/js/master/messages.js';
export { pack, unpack } from '../../bindings/js/master/transport.js';
export * as worker from '../../bindings/js/service/worker-messages.js';
export { MasterService } from '../../bindings/js/service/master-service.js';
export { RemoteBackend } from '../../bindings/js/session/remote-backend.js';
