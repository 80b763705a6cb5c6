// Debian's Firefox and WebKitGTK. The tests control each browser with its own protocol.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LIBRARIES = '/usr/lib/x86_64-linux-gnu';

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Repeats `attempt` until it returns a value, and returns it. Throws after 30 s. */
async function eventually(attempt, what) {
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100)) {
    const given = await attempt().catch(() => undefined);
    if (given !== undefined) return given;
  }
  throw new Error(`${what} did not come within 30 s`);
}

/** A child process and a folder for its files. close() removes both. */
function launch(command, args, options) {
  const child = spawn(command, args, { stdio: 'ignore', ...options });
  return { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
}

/** Firefox through Marionette: a message is its length followed by JSON. { navigate, evaluate, close } */
export async function openFirefox() {
  const port = await freePort();
  const profile = mkdtempSync(path.join(tmpdir(), 'firefox-'));
  writeFileSync(path.join(profile, 'user.js'), `user_pref("marionette.port", ${port});\n`);
  const { child, ended } = launch(
    'firefox-esr',
    ['--headless', '--marionette', '--no-remote', '--profile', profile],
    { env: { ...process.env, HOME: profile } },
  );
  const socket = await eventually(
    () =>
      new Promise((resolve, reject) => {
        const opened = connect(port, '127.0.0.1', () => resolve(opened)).once('error', reject);
      }),
    'Firefox',
  );
  const waiting = new Map();
  let bytes = Buffer.alloc(0);
  socket.on('data', (data) => {
    bytes = Buffer.concat([bytes, data]);
    for (;;) {
      const colon = bytes.indexOf(':');
      const end = colon + 1 + Number(bytes.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || bytes.length < end) return;
      const message = JSON.parse(bytes.subarray(colon + 1, end));
      bytes = bytes.subarray(end);
      if (Array.isArray(message)) waiting.get(message[1])?.(message);
    }
  });
  let last = 0;
  const call = (name, parameters) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify([0, ++last, name, parameters]);
      waiting.set(last, ([, , error, result]) =>
        error ? reject(new Error(error.message)) : resolve(result),
      );
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  await call('WebDriver:NewSession', {});
  return {
    navigate: (url) => call('WebDriver:Navigate', { url }),
    evaluate: async (script) =>
      (await call('WebDriver:ExecuteScript', { script: `return ${script}`, args: [] })).value,
    async close() {
      socket.destroy();
      child.kill();
      await ended;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** WebKitGTK's small browser through its WebDriver, on a screen of its own. { navigate, evaluate, close } */
export async function openWebKit() {
  const folder = readdirSync(LIBRARIES)
    .filter((name) => name.startsWith('webkit2gtk-'))
    .map((name) => path.join(LIBRARIES, name, 'MiniBrowser'))
    .find(existsSync);
  const screen = launch('Xvfb', ['-displayfd', '1', '-screen', '0', '800x600x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const display = await new Promise((resolve, reject) => {
    screen.child.stdout.once('data', (line) => resolve(String(line).trim()));
    screen.child.once('error', reject);
  });
  const port = await freePort();
  /* This switch enables Safari's shared memory in WebKitGTK. */
  const env = { ...process.env, DISPLAY: `:${display}`, JSC_useSharedArrayBuffer: '1' };
  const driver = launch('WebKitWebDriver', [`--port=${port}`], { env });
  const call = async (method, place, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${place}`, {
      method,
      body: body && JSON.stringify(body),
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(value.message);
    return value;
  };
  await eventually(() => call('GET', '/status'), 'WebKitWebDriver');
  const capabilities = {
    alwaysMatch: { 'webkitgtk:browserOptions': { binary: folder, args: ['--automation'] } },
  };
  const { sessionId } = await call('POST', '/session', { capabilities });
  return {
    navigate: (url) => call('POST', `/session/${sessionId}/url`, { url }),
    evaluate: (script) =>
      call('POST', `/session/${sessionId}/execute/sync`, { script: `return ${script}`, args: [] }),
    async close() {
      await call('DELETE', `/session/${sessionId}`).catch(() => {});
      for (const { child, ended } of [driver, screen]) {
        child.kill();
        await ended;
      }
    },
  };
}
