import assert from 'node:assert/strict';
import { clangFormatMissing, comparisonsWithNull, formatC, formatJs } from '../../tools/format.mjs';

describe('the formatting', function () {
  this.timeout(120_000);

  it('of C is what clang-format makes of it', async function () {
    const missing = clangFormatMissing();
    if (missing) {
      console.log(`      skipped: ${missing}`);
      this.skip();
    }
    const { ok, output } = await formatC(true);
    assert.ok(ok, `run \`npm run format\`:\n${output.slice(0, 4000)}`);
  });

  it('of JavaScript and TypeScript is what Biome makes of it', async () => {
    const { ok, output } = await formatJs(true);
    assert.ok(ok, `run \`npm run format\`:\n${output.slice(0, 4000)}`);
  });

  it('of conditions: a pointer is tested by itself', () => {
    assert.deepEqual(comparisonsWithNull(), []);
    const bad = ['if (p == NULL) return;', 'while (next(p) != NULL) n++;', 'return p != NULL && q;'];
    const good = ['if (!p) return;', 'return p != NULL;', 'count += p != NULL;', 'CHECK(ok == (p != NULL));'];
    assert.equal(comparisonsWithNull(['a.c'], () => bad.join('\n')).length, bad.length);
    assert.deepEqual(
      comparisonsWithNull(['a.c'], () => good.join('\n')),
      [],
    );
  });
});
