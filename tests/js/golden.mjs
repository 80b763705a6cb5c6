// The golden cases of tests/data/golden, in Node and in a page.
import { goldenCases as casesOf } from '../../examples/models/golden.mjs';
import { isPage } from './engine.mjs';

/** All cases of a family. */
export async function goldenCases(family) {
  const path = `tests/data/golden/${family}.pb`;
  return casesOf(
    isPage
      ? new Uint8Array(await (await fetch(`/${path}`)).arrayBuffer())
      : await (await import('node:fs/promises')).readFile(new URL(`../../${path}`, import.meta.url)),
  );
}
