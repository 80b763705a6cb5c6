// The memory that the values of a traced step need. While a node runs, its inputs and outputs are live, and the values that later nodes
// read. A read of a variable, and an output that is an input in another shape, take none.
import { sizeOf } from './single-op.mjs';

const BYTES = { bool: 1, int64: 8, resource: 0 };
const VIEWS = new Set(['Reshape', 'ExpandDims', 'Squeeze', 'Identity']);

/** The bytes of a { dtype, shape }. */
export const bytesOf = ({ dtype, shape }) => (BYTES[dtype] ?? 4) * sizeOf(shape);

/** { node, op, inputs } of a label such as '[cpu 0.9MB 0.9MB] y = MatMul[a,b](x, w:1)'; inputs are [node, output]. */
function equationOf({ node, label }) {
  const [, op, list] = /^([^(]*)\((.*)\)$/s.exec(label.slice(label.indexOf(`${node} = `) + node.length + 3));
  const inputs = list.split(', ').filter((input) => input !== '' && !input.startsWith('^'));
  return { node, op, inputs: inputs.map((input) => /^(.*?)(?::(\d+))?$/.exec(input).slice(1)) };
}

/** The most bytes that are live at once, with those of feeds, which stay, and without variables. */
export function mostLiveBytes(records, fed) {
  const values = new Map(); // by node and output: { bytes, last }, shared by views
  const equations = records.map(equationOf);
  equations.forEach(({ node, op, inputs }, i) => {
    const read = inputs.map(([name, output = 0]) => values.get(`${name}:${output}`));
    for (const value of read) if (value) value.last = i;
    records[i].outputs.forEach((output, k) => {
      const shared = VIEWS.has(op) ? read[0] : undefined;
      const bytes = op === 'ReadVariableOp' ? 0 : bytesOf(output);
      values.set(`${node}:${k}`, shared ?? { bytes, first: i, last: i });
    });
  });
  const change = new Float64Array(records.length + 1);
  for (const { bytes, first, last } of new Set(values.values())) {
    change[first] += bytes;
    change[last + 1] -= bytes;
  }
  let [live, most] = [fed, 0];
  for (const bytes of change) most = Math.max(most, (live += bytes));
  return most;
}
