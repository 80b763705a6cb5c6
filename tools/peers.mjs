// The environments in which the package is tested besides Node and Chromium: bundlers, other versions of
// Node, Bun and Deno from npm (tests/package/peers/package.json), and browsers from Debian. Everything is set
// up when a test first needs it.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { installPackages, missingPackages } from './debian.mjs';
import { must, root, say } from './process.mjs';
import { cacheFolder } from './setup.mjs';

const LOCK = ['package.json', 'package-lock.json'].map((name) =>
  path.join(root, 'tests/package/peers', name),
);
const BROWSERS = ['firefox-esr', 'webkit2gtk-driver', 'xvfb'];

/**
 * The folder whose node_modules has the packages of the lock file; test folders are created inside, where
 * they can resolve them.
 */
export async function setUpPeers() {
  const hash = createHash('sha256').update(readFileSync(LOCK[1])).digest('hex').slice(0, 12);
  const cache = cacheFolder();
  const folder = path.join(cache, `peers-${hash}`);
  if (existsSync(folder)) return folder;
  say('bundlers and hosts from npm: downloading (450 MB)');
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(path.join(cache, 'unpacking-'));
  try {
    for (const file of [...LOCK, path.join(root, '.npmrc')])
      copyFileSync(file, path.join(work, path.basename(file)));
    await must(
      'npm',
      ['ci', '--ignore-scripts', '--fetch-retries=1', '--no-audit', '--no-fund', '--loglevel=error'],
      { cwd: work },
    );
    try {
      renameSync(work, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Installs the browsers that are missing. */
export async function setUpBrowsers() {
  const missing = missingPackages(BROWSERS);
  if (missing.length > 0) await installPackages(missing);
}
