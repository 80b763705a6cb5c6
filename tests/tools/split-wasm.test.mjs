// Which part of the engine a function or a datum is in.
import assert from 'node:assert/strict';
import { partsOf } from '../../tools/split-wasm.mjs';

/** `references`: what each key refers to, as 'key' or 'key part'. Functions of training sources begin with 'train'. */
function parts(references, { outside = ['exported'], table = [] } = {}) {
  const entries = Object.entries(references).map(([from, list]) => [
    from,
    list.map((to) => [to.split(' ')[0], to.split(' ')[1]]),
  ]);
  const defined = new Set(Object.keys(references));
  return partsOf(
    { functions: new Map(), roots: { outside: new Set(outside), table: new Set(table) } },
    {
      references: new Map(entries),
      defined,
      ofTraining: new Set([...defined].filter((name) => name.startsWith('train'))),
    },
  );
}

describe('the parts of the engine', () => {
  it('have what only they refer to', () => {
    const partOf = parts({
      exported: ['engine_part_need', 'train', 'table', 'shared'],
      table: ['op', 'opOfSide side', 'opOfTraining training'],
      op: ['shared', 'gradient training'],
      opOfSide: ['kernel', 'helper'],
      opOfTraining: ['helper'],
      gradient: [],
      train: ['helper', 'shared', 'tail'],
      tail: [],
      kernel: [],
      helper: [],
      shared: [],
      forgotten: [],
    });
    const of = (part) =>
      [
        'exported',
        'table',
        'op',
        'opOfSide',
        'opOfTraining',
        'gradient',
        'train',
        'tail',
        'kernel',
        'helper',
        'shared',
        'forgotten',
      ].filter((key) => partOf(key) === part);
    assert.deepEqual(of(undefined), ['exported', 'table', 'op', 'shared']);
    assert.deepEqual(of('training'), ['opOfTraining', 'gradient', 'train', 'tail', 'helper']);
    assert.deepEqual(of('side'), ['opOfSide', 'kernel', 'forgotten']);
  });

  it('leave functions of the C library in the table to the main module', () => {
    const partOf = parts({ exported: [] }, { table: ['free', 'exported'] });
    assert.equal(partOf('free'), undefined);
  });

  it('are asked for by functions that call into the training part', () => {
    const references = { exported: ['middle'], middle: ['train'], train: [], engine_part_need: [] };
    assert.throws(() => parts(references), /do not call engine_part_need:\nmiddle uses train/);
    assert.throws(() => parts({ ...references, exported: ['middle', 'engine_part_need'] }), /middle/);
    assert.equal(parts({ ...references, middle: ['engine_part_need', 'train'] })('train'), 'training');
  });

  it('are asked for where data refers to their functions', () => {
    assert.throws(() => parts({ exported: ['data'], data: ['train'], train: [] }), /data uses train/);
  });
});
