// Headless Chromium, the machine's own, driven by playwright-core.
import { chromium } from 'playwright-core';
import { SetupError, which } from './process.mjs';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser of playwright's. Close it. */
export async function openChromium() {
  const program = which('chromium');
  if (!program) throw new SetupError('there is no chromium in PATH');
  return chromium.launch({ executablePath: program, args: FLAGS });
}
