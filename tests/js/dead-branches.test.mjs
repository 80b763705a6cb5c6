// What is in a branch of a Switch that is not taken stays dead, whatever the optimizer knows about it: its shape, or that a function
// returns a constant.
import assert from 'node:assert/strict';
import { engine } from './engine.mjs';

const constant = (name, type, value) =>
  `${name}(a:float) -> (y:${type}) {\n  c = Const[dtype=${type}, value=${value}]()\n  return y = c:output:0\n}`;
const LIBRARY = [
  constant('Seven', 'float', 7),
  constant('Eight', 'float', 8),
  constant('Never', 'bool', false),
];

const queried =
  (query, result = 'output:0') =>
  (name, x) => [
    `${name}_q = ${query}(${x})`,
    `${name} = Cast[SrcT=int32, DstT=float](${name}_q:${result})`,
    'y:0',
  ];
const called = (call, result) => (name, x, f) => [`${name} = ${call(x, f)}`, result];
const LOWERED = '_lower_using_switch_merge=true';

/** The nodes of a value `name` that is alive if `x` is, and which of its results that is. Function `f` returns a constant. */
const SIDES = {
  Shape: queried('Shape[T=float]'),
  ShapeN: queried('ShapeN[T=float, N=1]'),
  Size: queried('Size[T=float]'),
  Rank: queried('Rank[T=float]'),
  'the shape of a value behind other ops': (name, x) => {
    const [query, cast, result] = queried('Shape[T=float]')(name, `${name}_b:y:0`);
    return [
      `${name}_a = Identity[T=float](${x})`,
      `${name}_b = Neg[T=float](${name}_a:output:0)`,
      query,
      cast,
      result,
    ];
  },
  call: called((x, f) => `${f}(${x})`, 'y:0'),
  PartitionedCall: called((x, f) => `PartitionedCall[Tin={float}, Tout={float}, f=${f}](${x})`, 'output:0'),
  ...Object.fromEntries(
    ['', `, ${LOWERED}`].flatMap((lowered) => [
      [
        `If${lowered}`,
        called(
          (x, f) =>
            `StatelessIf[Tcond=bool, Tin={float}, Tout={float}, then_branch=${f}, else_branch=${f}${lowered}](q:output:0, ${x})`,
          'output:0',
        ),
      ],
      [
        `Case${lowered}`,
        called(
          (x, f) =>
            `StatelessCase[Tin={float}, Tout={float}, branches=[${f}, ${f}]${lowered}](k:output:0, ${x})`,
          'output:0',
        ),
      ],
      [
        `While${lowered}`,
        called((x, f) => `StatelessWhile[T={float}, cond=Never, body=${f}${lowered}](${x})`, 'output:0'),
      ],
    ]),
  ),
};

/** A function that merges the two sides of a Switch. */
function textOf(side) {
  const [no, yes] = [side('no', 's:output_false:0', 'Seven'), side('yes', 's:output_true:0', 'Eight')];
  const [noResult, yesResult] = [no.pop(), yes.pop()];
  return `Merged(x:float, p:bool) -> (y:float, index:int32) {
  ${[
    'q = Const[dtype=bool, value=true]()',
    'k = Const[dtype=int32, value=1]()',
    's = Switch[T=float](x, p)',
    ...no,
    ...yes,
    `m = Merge[T=float, N=2](no:${noResult}, yes:${yesResult})`,
  ].join('\n  ')}
  return y = m:output:0, index = m:value_index:0
}`;
}

describe('a branch that is not taken', () => {
  let tf;
  before(async () => (tf = await engine()));

  for (const [name, side] of Object.entries(SIDES)) {
    it(`is dead with ${name}`, async () => {
      const graph = new tf.Graph();
      const [x, p] = [graph.placeholder('float32', [1]), graph.placeholder('bool', [])];
      for (const text of LIBRARY) graph.addFunction(tf.FunctionDef.parse(text));
      const [, index] = graph.call(tf.FunctionDef.parse(textOf(side)), [x, p]);
      for (const optimize of [true, false]) {
        const session = new tf.Session(graph, { optimize });
        for (const taken of [false, true]) {
          const result = await session.run(
            index,
            new Map([
              [x, [3]],
              [p, tf.tensor(taken)],
            ]),
          );
          assert.equal(result.item(), taken ? 1 : 0, `optimize: ${optimize}, taken: ${taken}`);
        }
        await session.close();
      }
      graph.dispose();
    });
  }
});
