// One op, alone in a graph. Its inputs are variables, so that nothing is folded before the step and nothing
// is uploaded in it.
import { numbers } from './digits.mjs';

export const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** The inputs of an op: numbers in [-1, 1), mapped by `change`. */
export const floats = (shape, seed = 11, change = (x) => x) => ({
  shape,
  data: numbers(sizeOf(shape), seed).map(change),
  dtype: 'float32',
});

/** Numbers from 0 to below `limit`. */
export const indices = (shape, limit, seed = 13) => ({
  shape,
  data: Int32Array.from(numbers(sizeOf(shape), seed), (x) => Math.floor(((x + 1) / 2) * limit)),
  dtype: 'int32',
});

export const booleans = (shape, seed = 14) => ({
  shape,
  data: Uint8Array.from(numbers(sizeOf(shape), seed), (x) => (x > 0 ? 1 : 0)),
  dtype: 'bool',
});

const mapped = (values, make) =>
  values.map((value) => (Array.isArray(value) ? mapped(value, make) : make(value)));

/**
 * `values` are variables, `constants` are constants as in a frozen graph; both are { shape, data, dtype }, or
 * lists of these. `ourOp(graph, values, constants)` returns the Output, `peerOp(tfjs, values, constants)` all
 * the tensors it makes: one, or a list whose first is compared. Without it the peer has no such op.
 */
export function opCase({ name, group, flops, values, constants = [], ourOp, peerOp }) {
  return {
    name,
    group,
    flops,
    async ours(tf) {
      const graph = new tf.Graph();
      const session = new tf.Session(graph);
      const given = ({ data, shape, dtype }) => graph.constant(data, { shape, dtype });
      const output = ourOp(
        graph,
        mapped(values, (value) => graph.variable(given(value))),
        mapped(constants, given),
      );
      const { operation } = output;
      await session.run(graph.initializer());
      return {
        run: () => session.runSync(operation),
        result: () => Float32Array.from(session.runSync(output).data),
        async close() {
          await session.close();
          graph.dispose();
        },
      };
    },
    peer: peerOp && peer,
  };

  async function peer(tfjs) {
    const [ofValues, ofConstants] = [values, constants].map((all) =>
      mapped(all, ({ data, shape, dtype }) => tfjs.tensor(data, shape, dtype)),
    );
    const apply = () => peerOp(tfjs, ofValues, ofConstants);
    return {
      run: () => tfjs.dispose(apply()),
      result: () => tfjs.tidy(() => Float32Array.from([apply()].flat()[0].dataSync())),
      close: () => tfjs.dispose([...ofValues.flat(), ...ofConstants]),
    };
  }
}
