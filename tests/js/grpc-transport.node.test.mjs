// The target 'grpc://' without TensorFlow: servers of this package's service, of wrong answers, and none.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TFError, UnavailableError } from '../../npm/dist/index.js';
import { master } from '../../build/js/service.js';
import { engine } from './engine.mjs';
import { pem, serveGrpc, tlsCredentials } from './grpc-server.mjs';
import { freePorts } from './tensorflow-servers.mjs';

const DIST = fileURLToPath(new URL('../../npm/dist', import.meta.url));

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('gRPC', function () {
  this.timeout(60_000);
  let tf;
  let g;
  let y;
  before(async () => {
    tf = await engine();
    g = new tf.Graph();
    y = g.square(g.placeholder('float32', [null], { name: 'x' }), { name: 'y' });
  });

  const ended = [];
  afterEach(async () => {
    for (const end of ended.splice(0)) await end();
  });

  const served = async (options) => {
    const server = await serveGrpc(options);
    ended.push(server.close);
    return server;
  };

  /** The error of a step on a target. */
  async function failureOf(target, options = {}) {
    const session = new tf.Session(g, { target, operationTimeoutMs: 5000, ...options });
    ended.push(() => session.close());
    const error = await session.run(y, { x: [3] }).then(
      () => assert.fail('the step did not fail'),
      (reason) => reason,
    );
    assert.ok(error instanceof TFError, String(error));
    return error;
  }

  /** A step on a target that succeeds. */
  async function succeeds(target, options = {}) {
    const session = new tf.Session(g, { target, ...options });
    assert.deepEqual((await session.run(y, { x: [3] })).array(), [9]);
    await session.close();
  }

  it('carries calls between this package and this package', async () => {
    const { target, calls } = await served();
    await succeeds(target);
    assert.deepEqual(calls, ['CreateSession', 'RunStep', 'CloseSession']);
  });

  it('encrypts with credentials, and trusts whom they say', async () => {
    const { target } = await served({ credentials: tlsCredentials(false) });
    const rootCertificates = pem('root');
    await succeeds(target, { credentials: { rootCertificates } });
    await succeeds(target, { credentials: { rootCertificates: rootCertificates.toString() } });
    const mistrusted = await failureOf(target, { credentials: {} });
    assert.match(mistrusted.message, /certificate/);
    assert.ok(mistrusted instanceof UnavailableError);
    assert.ok((await failureOf(target)) instanceof UnavailableError, 'the server speaks TLS only');
  });

  it('shows a certificate to servers that ask for one', async () => {
    const { target } = await served({ credentials: tlsCredentials(true) });
    const rootCertificates = pem('root');
    const own = { certificate: pem('client'), privateKey: pem('client-key') };
    await succeeds(target, { credentials: { rootCertificates, ...own } });
    assert.ok((await failureOf(target, { credentials: { rootCertificates } })) instanceof UnavailableError);
  });

  it('refuses credentials, addresses and times that make no sense', async () => {
    const refusals = [
      [{ target: 'grpc://localhost' }, /is not of the form grpc:\/\/host:port/],
      [{ target: 'grpc://' }, /is not of the form/],
      [{ target: 'grpc://a:1,b:2' }, /is not of the form/],
      [{ credentials: 'root' }, /option 'credentials' of Session must be an object/],
      [{ credentials: { root: 'x' } }, /credentials has no option 'root'/],
      [
        { credentials: { rootCertificates: 5 } },
        /credentials\.rootCertificates must be the text or the bytes/,
      ],
      [{ credentials: { certificate: 'x' } }, /both certificate and privateKey/],
      [{ operationTimeoutMs: -1 }, /it must be a number of milliseconds/],
      [{ operationTimeoutMs: 'long' }, /must be a number/],
    ];
    for (const [options, message] of refusals)
      assert.throws(() => new tf.Session(g, { target: 'grpc://localhost:1', ...options }), {
        name: 'InvalidArgumentError',
        message,
      });
    const broken = { credentials: { certificate: 'no certificate', privateKey: 'no key' } };
    const error = await failureOf('grpc://localhost:1', broken);
    assert.match(error.message, /^the credentials are not valid: /);
    await assert.rejects(tf.Session.reset('grpc://localhost'), { name: 'InvalidArgumentError' });
  });

  it('says that nobody listens, and that nobody has the name', async () => {
    const [port] = await freePorts(1);
    const refused = await failureOf(`grpc://127.0.0.1:${port}`);
    assert.equal(refused.code, 'UNAVAILABLE');
    assert.match(refused.message, /ECONNREFUSED.*\nDoes the server 127\.0\.0\.1:\d+ run/s);
    const unknown = await failureOf('grpc://nowhere.invalid:2222');
    assert.equal(unknown.code, 'UNAVAILABLE');
    assert.match(unknown.message, /Name resolution failed.*nowhere\.invalid/);
    await assert.rejects(tf.Session.reset(`grpc://127.0.0.1:${port}`), UnavailableError);
  });

  it('does not wait for a server that is silent', async () => {
    const sockets = [];
    const silent = net.createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    ended.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const error = await failureOf(`grpc://127.0.0.1:${silent.address().port}`, { operationTimeoutMs: 300 });
    assert.equal(error.code, 'DEADLINE_EXCEEDED');
    assert.match(error.message, /did not answer CreateSession within 300 ms/);
  });

  it('says that a server speaks another protocol', async () => {
    const plain = http.createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    ended.push(() => plain.close());
    assert.equal((await failureOf(`grpc://127.0.0.1:${plain.address().port}`)).code, 'UNAVAILABLE');
  });

  it('fails the steps of a connection that is cut, and connects again', async () => {
    let cutNow;
    const { port } = await served({
      answer: (method, _, next) => (method === 'RunStep' && cutNow ? new Promise(() => cutNow()) : next()),
    });
    const sockets = new Set();
    const proxy = net.createServer((socket) => {
      const other = net.connect(port, '127.0.0.1');
      for (const one of [socket, other]) sockets.add(one.on('error', () => {}));
      socket.pipe(other).pipe(socket);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const cut = () => sockets.forEach((socket) => socket.destroy());
    ended.push(cut, () => proxy.close());
    const session = new tf.Session(g, { target: `grpc://127.0.0.1:${proxy.address().port}` });
    ended.push(() => session.close());
    assert.deepEqual((await session.run(y, { x: [3] })).array(), [9]);
    cutNow = cut;
    await assert.rejects(session.run(y, { x: [3] }), UnavailableError);
    cutNow = undefined;
    await pause(300);
    assert.deepEqual((await session.run(y, { x: [4] })).array(), [16], 'the server still has the session');
  });

  it('gives an error for answers that are not what they say', async () => {
    const { CreateSession, RunStep } = master;
    const created = CreateSession.response.encode({ sessionHandle: 'h', graphVersion: 1n });
    const tensor = tf.tensor([9]);
    const good = RunStep.response.encode({ tensor: [{ name: 'y:0', tensor }] });
    const answers = {
      'half a message': good.slice(0, good.length / 2),
      'a field that is longer than its message': Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x07),
      'a number without an end': new Uint8Array(20).fill(0xff),
      'no tensor': new Uint8Array(0),
      'a tensor of another name': RunStep.response.encode({ tensor: [{ name: 'z:0', tensor }] }),
      'a tensor of 2 ** 60 elements': Uint8Array.from(
        [[0x0a, 22, 0x0a, 3, 0x79, 0x3a, 0x30, 0x12, 15, 0x08, 1, 0x12, 11, 0x12, 9, 0x08]].flat(),
      ),
    };
    for (const [what, bytes] of Object.entries(answers)) {
      const { target } = await served({
        answer: (method, _, next) => {
          if (method === 'CreateSession') return created;
          return method === 'RunStep' ? bytes : method === 'CloseSession' ? new Uint8Array(0) : next();
        },
      });
      const error = await failureOf(target);
      assert.match(error.code, /^(INVALID_ARGUMENT|INTERNAL|RESOURCE_EXHAUSTED)$/, what);
    }
  });

  it('gives an error for frames that lie about their length, or end early', async () => {
    const frame = (length, bytes) => Buffer.concat([Buffer.from([0, ...uint32(length)]), Buffer.from(bytes)]);
    const uint32 = (value) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
    const ending = { waitForTrailers: true };
    const OK = { ':status': 200, 'content-type': 'application/grpc' };
    const answers = {
      'a message that is shorter than it says': (stream) => {
        stream.respond(OK, ending);
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(frame(100, [1, 2, 3]));
      },
      'a length of 4 GiB': (stream) => {
        stream.respond(OK, ending);
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(frame(0xffffffff, [1, 2, 3]));
      },
      'no status': (stream) => {
        stream.respond(OK);
        stream.end(frame(0, []));
      },
      'another content': (stream) => {
        stream.respond({ ':status': 404, 'content-type': 'text/html' });
        stream.end('<html>not found</html>');
      },
      'a stream that is reset': (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
      'half a frame, and no more': (stream) => {
        stream.respond(OK);
        stream.write(frame(100, [1]).subarray(0, 3));
        setTimeout(() => stream.session.destroy(), 50);
      },
    };
    for (const [what, answer] of Object.entries(answers)) {
      const server = http2.createServer().on('stream', (stream) => {
        stream.on('error', () => {});
        answer(stream);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const error = await failureOf(`grpc://127.0.0.1:${server.address().port}`);
      assert.notEqual(error.code, 'DEADLINE_EXCEEDED', what);
      server.close();
    }
  });

  it('has the code and the words of every status', async () => {
    const codes = ['NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'OUT_OF_RANGE'];
    for (const code of [...codes, 'UNIMPLEMENTED', 'INTERNAL', 'DATA_LOSS', 'UNAUTHENTICATED']) {
      const { target } = await served({
        answer: () => {
          throw Object.assign(new Error(`words of ${code}: ä`), { code });
        },
      });
      const error = await failureOf(target);
      assert.deepEqual([error.code, error.message], [code, `words of ${code}: ä`]);
      assert.equal(error.name.toUpperCase(), `${code.replaceAll('_', '')}ERROR`);
    }
  });

  it('gives each step a request id of its own', async () => {
    const ids = [];
    const { target } = await served({
      answer: (method, bytes, next) => {
        if (method in master && 'requestId' in master[method].request.decode(bytes))
          ids.push(master[method].request.decode(bytes).requestId);
        return next();
      },
    });
    const session = new tf.Session(g, { target });
    for (let i = 0; i < 3; i++) await session.run(y, { x: [i] });
    await session.makeCallable(y, ['x']).run([1]);
    await session.partialRun([y], ['x']).run(y, { x: [1] });
    await session.close();
    assert.equal(ids.length, 7);
    assert.equal(new Set(ids).size, 7);
    assert.ok(ids.every((id) => id > 0n));
  });

  it('closes the sessions that nobody holds on to', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    const { target, calls } = await served();
    await (async () => {
      const session = new tf.Session(g, { target });
      await session.run(y, { x: [1] });
    })();
    for (let i = 0; i < 300 && !calls.includes('CloseSession'); i++) {
      collect();
      await pause(10);
    }
    assert.ok(calls.includes('CloseSession'));
  });

  it('does not keep a process alive, and needs the package', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'grpc-'));
    ended.push(() => rmSync(folder, { recursive: true, force: true }));
    const { target } = await served();
    const program = (from) => `
      import { init } from ${JSON.stringify(from)};
      const tf = await init({ threads: 1 });
      const g = new tf.Graph();
      const session = new tf.Session(g, { target: '${target}' });
      console.log(await session.run(g.constant(7)).then(String, (error) => error.name + ': ' + error.message));`;
    const run = async (name, from) => {
      const file = path.join(folder, name);
      writeFileSync(file, program(from));
      return (await promisify(execFile)(process.execPath, [file], { timeout: 20_000 })).stdout;
    };
    assert.match(await run('with.mjs', path.join(DIST, 'index.js')), /^Tensor<float32 \[\]: 7>\n$/);
    cpSync(DIST, path.join(folder, 'dist'), { recursive: true });
    assert.match(
      await run('without.mjs', './dist/index.js'),
      /^FailedPreconditionError: targets grpc:\/\/ need the package @grpc\/grpc-js: npm install @grpc\/grpc-js \(/,
    );
  });
});
