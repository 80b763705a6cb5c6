// examples/functions.mjs, run as a user runs it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readFunctions } from '../../examples/functions/workbench.mjs';
import { engine } from './engine.mjs';

describe('examples/functions.mjs', function () {
  this.timeout(30_000);

  it('reads, makes, calls and differentiates functions', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('../../examples/functions.mjs', import.meta.url))],
      { encoding: 'utf8' },
    );
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /Polynomial\[T:\{float, double, int32\}\]\(x:T\) -> \(y:T\) \{\n {2}two = Const/);
    assert.match(stdout, /the same function: true/);
    assert.match(stdout, /float32 5, float64 5/);
    assert.match(stdout, /PolynomialGradient\(x:float, d_y:float\) -> \(d_x:float\) \{/);
    assert.match(stdout, /power_body\(arg:int32, arg_1:double, base_0:double, count_0:int32\) -> \(/);
    /* x^n, n x^(n-1) and n (n-1) x^(n-2) at 2, and log 1024. */
    assert.match(
      stdout,
      /x\^3 at 2: 8, slope 12, bend 12, capped 8\.000\nx\^10 at 2: 1024, slope 5120, bend 23040, capped 6\.931/,
    );
    assert.match(stdout, /10! = 3628800/);
    assert.match(stdout, /INVALID_ARGUMENT: function text 3:3: /);
  });

  it('splits a text into functions, whose mistakes keep their place', async () => {
    const tf = await engine();
    const one = 'One() -> (y:float) {\n  y = Const[dtype=float, value=1]()\n  return y = y:output:0\n}';
    assert.deepEqual(
      readFunctions(tf, `${one}\n\n${one.replace('One', 'Two')}\n\n`).map(({ name }) => name),
      ['One', 'Two'],
    );
    assert.throws(() => readFunctions(tf, `${one}\n\nrubbish`), /function text 6:8: /);
    assert.throws(() => readFunctions(tf, ''), /function text 1:1: /);
  });
});
