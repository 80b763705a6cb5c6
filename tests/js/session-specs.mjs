// Runs specs of the Session API, as they are, with sessions of a target.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Runs the specs of a file with sessions of a target, without some: the report of mocha. */
async function report(file, target, left) {
  const without = left.length > 0 ? ['--invert', '--grep', `^(${left.map(escaped).join('|')})`] : [];
  const mocha = `${ROOT}node_modules/mocha/bin/mocha.js`;
  const args = [mocha, '--exit', '--timeout', '60000', '--reporter', 'json', ...without];
  const child = spawn(process.execPath, [...args, `${ROOT}tests/js/${file}`], {
    cwd: ROOT,
    env: { ...process.env, TFCORE_TEST_TARGET: target },
  });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(output.slice(output.indexOf('{\n  "stats"')));
}

/** Fails unless all specs of a file succeed, without those whose titles begin with the texts of `left`. */
export async function runSessionSpecs(file, target, left) {
  const { stats, failures } = await report(file, target, left);
  assert.deepEqual(
    failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`),
    [],
  );
  assert.ok(stats.passes > 0);
  const text = readFileSync(`${ROOT}tests/js/${file}`, 'utf8');
  for (const title of left)
    assert.ok(
      title.split(' ').some((_, i, words) => text.includes(words.slice(i).join(' '))),
      `no spec ${title}`,
    );
}
