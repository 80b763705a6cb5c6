/** The cells of recurrent layers: what happens in one step. */
import type { Output } from '../../graph/operation.js';
import { activate } from '../activations.js';
import { objectsIn } from '../../base/json.js';
import type { Layer } from '../layer.js';
import { Size, range } from '../ops.js';
import type { WeightNode } from '../weight-tree.js';

export interface Cell {
  /** Declares the weights, for inputs with so many channels. */
  declare(width: number): void;
  /** What of the steps is computed for all of them at once: [batch, time, ...] -> [batch, time, ...]. */
  prepare(x: Output): Output;
  /** The sizes of the output without the batch; of images they depend on the prepared inputs. */
  output(prepared: Output | undefined): Size[];
  /** The sizes of the states without the batch. */
  states(prepared: Output | undefined): Size[][];
  /** The output and the next states. */
  step(x: Output, states: readonly Output[]): [Output, Output[]];
}

/** A cell that `layer` describes, with the weights of `node`. */
type MakeCell = (layer: Layer, node: WeightNode) => Cell;

const activated = (layer: Layer, x: Output, key: string): Output =>
  activate(layer, x, layer.config.value(key));

const hasBias = (layer: Layer): boolean => layer.config.bool('use_bias', true);

interface Weights {
  readonly kernel: Output;
  readonly recurrent: Output;
  readonly bias: Output | undefined;
}

/** The weights of a cell with so many gates, for inputs of that width. */
function weightsOf(layer: Layer, node: WeightNode, width: number, gates: number, isDouble = false): Weights {
  const units = layer.config.int('units');
  const own = { node };
  const columns = gates * units;
  return {
    kernel: layer.weight('kernel', [width, columns], own),
    recurrent: layer.weight('recurrent_kernel', [units, columns], own),
    bias: hasBias(layer) ? layer.weight('bias', isDouble ? [2, columns] : [columns], own) : undefined,
  };
}

/** x W + b for all steps. */
function product(layer: Layer, x: Output, { kernel, bias }: Weights): Output {
  const result = layer.timesMatrix(x, kernel);
  return bias ? layer.op('BiasAdd', [result, bias]) : result;
}

const simple: MakeCell = (layer, node) => {
  const units = layer.config.int('units');
  let weights: Weights;
  return {
    declare: (width) => void (weights = weightsOf(layer, node, width, 1)),
    prepare: (x) => product(layer, x, weights),
    output: () => [units],
    states: () => [[units]],
    step(x, [state]) {
      const sum = layer.add(x, layer.op('MatMul', [state!, weights.recurrent]));
      const output = activated(layer, sum, 'activation');
      return [output, [output]];
    },
  };
};

/** The new state and memory, from the sums of the four gates along the last dimension. */
function lstmStep(layer: Layer, sums: Output, memory: Output): [Output, Output[]] {
  const [input, forget, candidate, output] = layer.split(sums, 4, -1) as [Output, Output, Output, Output];
  const gate = (x: Output): Output => activated(layer, x, 'recurrent_activation');
  const added = layer.mul(gate(input), activated(layer, candidate, 'activation'));
  const next = layer.add(layer.mul(gate(forget), memory), added);
  const state = layer.mul(gate(output), activated(layer, next, 'activation'));
  return [state, [state, next]];
}

const lstm: MakeCell = (layer, node) => {
  const units = layer.config.int('units');
  let weights: Weights;
  return {
    declare: (width) => void (weights = weightsOf(layer, node, width, 4)),
    prepare: (x) => product(layer, x, weights),
    output: () => [units],
    states: () => [[units], [units]],
    step: (x, [state, memory]) =>
      lstmStep(layer, layer.add(x, layer.op('MatMul', [state!, weights.recurrent])), memory!),
  };
};

/** The gates and the candidate's sum of a GRU whose reset gate is applied to the product with the state. */
function resetAfterStep(layer: Layer, x: Output, state: Output, recurrent: Output, bias: Output | undefined) {
  const inner = layer.op('MatMul', [state, recurrent]);
  const biased = bias ? layer.op('BiasAdd', [inner, bias]) : inner;
  const [update, reset, candidate] = layer.split(x, 3, -1) as [Output, Output, Output];
  const [toUpdate, toReset, toCandidate] = layer.split(biased, 3, -1) as [Output, Output, Output];
  const r = activated(layer, layer.add(reset, toReset), 'recurrent_activation');
  return { gate: layer.add(update, toUpdate), sum: layer.add(candidate, layer.mul(r, toCandidate)) };
}

/** The same with the reset gate applied to the state. */
function resetBeforeStep(layer: Layer, x: Output, state: Output, recurrent: Output) {
  const [update, reset, candidate] = layer.split(x, 3, -1) as [Output, Output, Output];
  const [toUpdate, toReset, toCandidate] = layer.split(recurrent, 3, 1) as [Output, Output, Output];
  const sum = (own: Output, h: Output, kernel: Output): Output =>
    layer.add(own, layer.op('MatMul', [h, kernel]));
  const r = activated(layer, sum(reset, state, toReset), 'recurrent_activation');
  return { gate: sum(update, state, toUpdate), sum: sum(candidate, layer.mul(r, state), toCandidate) };
}

const gru: MakeCell = (layer, node) => {
  const units = layer.config.int('units');
  const resetAfter = layer.config.bool('reset_after', layer.model.isKeras3);
  let weights: Weights;
  let inner: Output | undefined;
  return {
    declare(width) {
      weights = weightsOf(layer, node, width, 3, resetAfter);
      const { bias } = weights;
      if (!bias || !resetAfter) return;
      /* The products with the state have a bias of their own. */
      const row = (i: number): Output => layer.reshape(layer.slice(bias, 0, i, i + 1), [3 * units]);
      weights = { ...weights, bias: row(0) };
      inner = row(1);
    },
    prepare: (x) => product(layer, x, weights),
    output: () => [units],
    states: () => [[units]],
    step(x, [state]) {
      const { gate, sum } = resetAfter
        ? resetAfterStep(layer, x, state!, weights.recurrent, inner)
        : resetBeforeStep(layer, x, state!, weights.recurrent);
      const kept = activated(layer, gate, 'recurrent_activation');
      const next = activated(layer, sum, 'activation');
      const output = layer.add(next, layer.mul(kept, layer.sub(state!, next)));
      return [output, [output]];
    },
  };
};

/** Cells one above the other: the states of all are those of the first, then those of the second, … */
const stacked: MakeCell = (layer) => {
  const cells = objectsIn(layer.config.value('cells')).map((json, i) =>
    cellOf(layer.child(`cells/${i}`, json)),
  );
  const [first, last] = [cells[0], cells.at(-1)];
  if (!first || !last) throw layer.refuse('it has no cells');
  return {
    declare(width) {
      let size = width;
      for (const cell of cells) {
        cell.declare(size);
        size = cell.output(undefined)[0] as number;
      }
    },
    prepare: (x) => first.prepare(x),
    output: (x) => last.output(x),
    states: (x) => cells.flatMap((cell) => cell.states(x)),
    step(x, states) {
      const next: Output[] = [];
      let value = x;
      for (const cell of cells) {
        const own = states.slice(next.length, next.length + cell.states(undefined).length);
        const [output, after] = cell.step(cell === first ? value : onceInStep(layer, cell, value), own);
        next.push(...after);
        value = output;
      }
      return [value, next];
    },
  };
};

/** Prepares the value of one step. */
const onceInStep = (layer: Layer, cell: Cell, x: Output): Output =>
  layer.squeeze(cell.prepare(layer.expand(x, 1)), 1);

/** A convolution over one to three dimensions. */
function convolved(
  layer: Layer,
  x: Output,
  kernel: Output,
  attrs: { strides: number[]; dilations: number[]; padding: string },
): Output {
  const isLine = attrs.strides.length === 1;
  const plane = (values: readonly number[]): number[] => [1, ...(isLine ? [1] : []), ...values, 1];
  const flat = (value: Output, axis: number): Output => (isLine ? layer.expand(value, axis) : value);
  const type = attrs.strides.length === 3 ? 'Conv3D' : 'Conv2D';
  const result = layer.op(type, [flat(x, 1), flat(kernel, 0)], {
    strides: plane(attrs.strides),
    dilations: plane(attrs.dilations),
    padding: attrs.padding.toUpperCase(),
  });
  return isLine ? layer.squeeze(result, 1) : result;
}

/** The gates are convolutions over one to three dimensions. */
const convLstm =
  (rank: number): MakeCell =>
  (layer, node) => {
    const { config } = layer;
    const [filters, size] = [config.int('filters'), config.ints('kernel_size', rank)];
    const ones = Array<number>(rank).fill(1);
    let weights: Weights;
    const sizes = (x: Output | undefined): Size[] => [...layer.sizes(x!).slice(2, -1), filters];
    return {
      declare(width) {
        if (config.text('data_format', 'channels_last') === 'channels_first')
          throw layer.refuse("data_format 'channels_first' is not supported");
        weights = {
          kernel: layer.weight('kernel', [...size, width, 4 * filters], { node }),
          recurrent: layer.weight('recurrent_kernel', [...size, filters, 4 * filters], { node }),
          bias: hasBias(layer) ? layer.weight('bias', [4 * filters], { node }) : undefined,
        };
      },
      prepare(x) {
        const [batch, time, ...rest] = layer.sizes(x) as [Size, Size, ...Size[]];
        const result = convolved(
          layer,
          layer.reshape(x, [layer.times(batch, time), ...rest]),
          weights.kernel,
          {
            strides: config.ints('strides', rank, 1),
            dilations: config.ints('dilation_rate', rank, 1),
            padding: config.text('padding', 'valid'),
          },
        );
        const biased = weights.bias ? layer.op('BiasAdd', [result, weights.bias]) : result;
        return layer.reshape(biased, [batch, time, ...layer.sizes(biased).slice(1)]);
      },
      output: sizes,
      states: (x) => [sizes(x), sizes(x)],
      step(x, [state, memory]) {
        const attrs = { strides: ones, dilations: ones, padding: 'same' };
        return lstmStep(layer, layer.add(x, convolved(layer, state!, weights.recurrent, attrs)), memory!);
      },
    };
  };

const CELLS: Readonly<Record<string, MakeCell>> = {
  GRUCell: gru,
  LSTMCell: lstm,
  SimpleRNNCell: simple,
  StackedRNNCells: stacked,
};

/** Of layers that are their own descriptions of a cell: its attribute and name. */
const OWN_CELLS: Readonly<Record<string, readonly [MakeCell, string]>> = {
  ConvLSTM1D: [convLstm(1), 'conv_lstm_cell'],
  ConvLSTM2D: [convLstm(2), 'conv_lstm_cell'],
  ConvLSTM3D: [convLstm(3), 'conv_lstm_cell'],
  GRU: [gru, 'gru_cell'],
  LSTM: [lstm, 'lstm_cell'],
  SimpleRNN: [simple, 'simple_rnn_cell'],
};
export const CELL_LAYERS = Object.keys(OWN_CELLS);
export const CELL_NAMES = Object.keys(CELLS);

function cellOf(layer: Layer): Cell {
  const name = String(layer.json.class_name);
  const make = Object.hasOwn(CELLS, name) ? CELLS[name] : undefined;
  if (!make) throw layer.refuse('it is no cell of a recurrent layer');
  return make(layer, layer.node);
}

/** The cell of a recurrent layer: LSTM has its own, RNN one that is described. */
export function cellOfLayer(layer: Layer): Cell {
  const own = OWN_CELLS[String(layer.json.class_name)];
  if (own) return own[0](layer, layer.part('cell', own[1]));
  return cellOf(layer.child('cell', layer.config.object('cell')));
}

export const elementShape = (sizes: readonly Size[]): number[] =>
  range(0, sizes.length).map((i) => (typeof sizes[i] === 'number' ? (sizes[i] as number) : -1));
