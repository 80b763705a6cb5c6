import assert from 'node:assert/strict';
import path from 'node:path';
import { codeOf, nameOf, vectorLoops } from '../../bench/vector-loops.mjs';
import { SetupError, root } from '../../tools/process.mjs';

/** The loops that only add products up. */
const PRODUCTS = /^_ZL\d+(tile|tile_in_place|pair|row_times)_(\dx\d_|\d_)?f32/;

describe('the loops of products', () => {
  for (const variant of ['simd', 'relaxed']) {
    it(`keep their sums in registers, ${variant}`, function () {
      this.timeout(120_000);
      let functions;
      try {
        functions = codeOf(path.join(root, `build/wasm-${variant}/tfcore-${variant}.wasm`));
      } catch (error) {
        if (!(error instanceof SetupError)) throw error;
        console.log(`      skipped: a Node whose V8 has a disassembler is needed; ${error.message}`);
        return this.skip();
      }
      const loops = functions.filter((code) => PRODUCTS.test(nameOf(code))).flatMap(vectorLoops);
      assert.ok(loops.length >= 20, `there are only ${loops.length} such loops`);
      assert.deepEqual(
        loops.filter(({ stores }) => stores > 0),
        [],
      );
    });
  }
});
