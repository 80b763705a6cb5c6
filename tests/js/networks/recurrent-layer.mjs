import { Value } from './value.mjs';

/** Cells: functions of a network, of what a row gives ("all gates"), and of the states; they return the new states. */
const CELLS = {
  simple: {
    gates: 1,
    states: 1,
    step: ({ g, act }, row, [h], product) => [act(g.addV2(row, product(h)))],
  },
  leaky: {
    gates: 1,
    states: 1,
    step: ({ g, number, act }, row, [h], product) => [
      g.addV2(g.mul(h, number(0.75)), g.mul(number(0.25), act(g.addV2(row, product(h))))),
    ],
  },
  lstm: {
    gates: 4,
    states: 2,
    step: ({ g, split }, row, [h, c], product) => {
      const [i, f, o, j] = split(g.addV2(row, product(h)), 4);
      const next = g.addV2(g.mul(g.sigmoid(f), c), g.mul(g.sigmoid(i), g.tanh(j)));
      return [g.mul(g.sigmoid(o), g.tanh(next)), next];
    },
  },
  gru: {
    gates: 3,
    states: 1,
    step: ({ g, number, split }, row, [h], product) => {
      const [xz, xr, xh] = split(row, 3);
      const [hz, hr, hh] = split(product(h), 3);
      const [z, r] = [g.sigmoid(g.addV2(xz, hz)), g.sigmoid(g.addV2(xr, hr))];
      const candidate = g.tanh(g.addV2(xh, g.mul(r, hh)));
      return [g.addV2(g.mul(z, h), g.mul(g.sub(number(1), z), candidate))];
    },
  },
};

/** A loop over the steps of a sequence, forward or backward, as layers of Keras write it. Its result is the last state or all. */
export function recurrent(n) {
  const { g, random } = n;
  const { dtype, isBatchKnown } = n.options;
  const x = n.some(3);
  if (!x) return undefined;
  const [batch, time, c] = x.shape;
  const open = isBatchKnown ? batch : -1;
  const units = random.pick([1, 3, 4, 8, 13]);
  const cell = CELLS[random.pick(Object.keys(CELLS))];
  const width = cell.gates * units;
  const [wx, wh, b] = [n.filter([c, width]), n.filter([units, width]), n.weight([width], 0.3)];

  /* The input's product is made for all steps before the loop, or for each step in it; or the cell joins input and state. */
  const form = random.pick(['before', 'inside', cell.gates === 3 ? 'inside' : 'joined']);
  let rows = g.transpose(x.output, n.ints([1, 0, 2]));
  if (form === 'before') {
    const products = g.addV2(g.matMul(g.reshape(rows, n.ints([-1, c])), wx), b);
    rows = g.reshape(products, n.ints([time, open, width]));
  }
  if (random.chance(0.3)) rows = g.reverseV2(rows, n.ints([0]));
  const rowShape = [open, form === 'before' ? width : c];
  const joinedWeights = g.concatV2([wx, wh], n.ints(0));
  const tools = {
    g,
    number: (value) => n.number(value),
    act: g[random.pick(['tanh', 'relu', 'sigmoid'])].bind(g),
    split: (all, numSplit) => g.split(n.ints(1), all, { numSplit }),
  };
  function step(row, states) {
    if (form === 'before') return cell.step(tools, row, states, (h) => g.matMul(h, wh));
    if (form === 'inside')
      return cell.step(tools, g.addV2(g.matMul(row, wx), b), states, (h) => g.matMul(h, wh));
    const product = (h) => g.matMul(g.concatV2([row, h], n.ints(1)), joinedWeights);
    return cell.step(tools, b, states, product);
  }

  const list = g.tensorListFromTensor(rows, n.ints(rowShape));
  const reserved = g.tensorListReserve(n.ints([open, units]), n.ints(time), { elementDtype: dtype });
  const count = g.stridedSlice(g.shape(x.output), n.ints([0]), n.ints([1]), n.ints([1]), {
    shrinkAxisMask: 1,
  });
  const zeros = () => g.fill(g.pack([count, n.ints(units)]), n.number(0));
  const [, all, ...last] = g.whileLoop(
    (i) => g.less(i, n.ints(time)),
    (i, results, ...states) => {
      const row = g.tensorListGetItem(list, i, n.ints(rowShape), { elementDtype: dtype });
      const next = step(row, states);
      return [g.addV2(i, n.ints(1)), g.tensorListSetItem(results, i, next[0]), ...next];
    },
    [n.ints(0), reserved, ...Array.from({ length: cell.states }, zeros)],
  );
  if (random.chance(0.4)) {
    const shape = [batch, units];
    return new Value(g.reshape(random.pick(last), n.target(shape)), shape);
  }
  const stacked = g.tensorListStack(all, n.ints([open, units]), { elementDtype: dtype, numElements: time });
  const shape = [batch, time, units];
  return new Value(g.reshape(g.transpose(stacked, n.ints([1, 0, 2])), n.target(shape)), shape);
}
