// graph.gradients through the conditionals and loops of imported TensorFlow 1.x graphs: Switch, Merge and
// frames. The numbers are TensorFlow's; all cases, also of float64, are replayed by test_golden.
import assert from 'node:assert/strict';
import { difference } from '../../examples/models/golden.mjs';
import { feedsOf, withModel } from '../../examples/models/models.mjs';
import { engine } from './engine.mjs';
import { goldenCases } from './golden.mjs';

describe('gradients through imported control flow', function () {
  this.timeout(60_000);
  let tf;
  let cases;
  before(async () => {
    tf = await engine();
    cases = (await goldenCases('flow_gradients')).filter(({ name }) => name.endsWith('float32'));
  });

  it('are those of TensorFlow', async () => {
    assert.equal(cases.length, 3);
    for (const { name, graph: bytes, gradients, steps } of cases) {
      await withModel(tf, bytes, async (graph, session) => {
        const [ys, xs] = [gradients.ys, gradients.xs].map((names) => names.map((n) => graph.output(n)));
        const slopes = graph.gradients(ys, xs, { gradYs: [graph.output('dy:0')] });
        const fetches = [ys[0], ...slopes];
        for (const step of steps) {
          const results = await session.run(fetches, feedsOf(tf, step));
          results.forEach((got, i) => {
            assert.equal(difference(got, step.fetches[i]), undefined, `${name}, ${step.fetches[i].name}`);
          });
        }
      });
    }
  });

  it('can be differentiated again', async () => {
    const { graph: bytes } = cases.find(({ name }) => name === 'power, float32');
    await withModel(tf, bytes, async (graph, session) => {
      const x = graph.output('x0:0');
      const orders = [graph.output('y:0')]; // x^(n + 1)
      for (let order = 1; order <= 3; order++) orders.push(graph.gradients([orders.at(-1)], [x])[0]);
      const values = await session.run(orders, { 'x0:0': 2, 'x1:0': 4 });
      assert.deepEqual(
        values.map((value) => value.data[0]),
        [32, 80, 160, 240],
      );
    });
  });

  it('name what cannot be differentiated', async () => {
    const { graph: bytes } = cases.find(({ name }) => name === 'power, float32');
    await withModel(tf, bytes, async (graph) => {
      const x = graph.output('x0:0');
      assert.throws(() => graph.gradients([graph.output('while/mul:0')], [x]), {
        name: 'InvalidArgumentError',
        message: /inside while loop with respect to op 'x0'/,
      });
    });
  });
});
