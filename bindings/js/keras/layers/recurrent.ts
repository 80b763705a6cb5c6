/** Recurrent layers, and layers that apply another one to sequences. */
import type { Output, Variable } from '../../graph/operation.js';
import { objectOr } from '../../base/json.js';
import { Json } from '../json.js';
import { Call, KerasTensor, Layer, LayerFunction, tensorsIn } from '../layer.js';
import { Size, range } from '../ops.js';
import { CELL_LAYERS, CELL_NAMES, Cell, cellOfLayer, elementShape } from './cells.js';

/** What a loop over the steps returns. */
interface Steps {
  readonly last: Output;
  /** [batch, time, ...]; undefined unless it was asked for. */
  readonly all: Output | undefined;
  readonly states: readonly Output[];
}

/** How a layer runs over its steps. */
interface Plan {
  readonly cell: Cell;
  /** [batch, time, ...] */
  readonly prepared: Output;
  readonly initial: readonly Output[];
  /** [batch, time], true for steps that count. */
  readonly mask: Output | undefined;
}

const timeFirst = (layer: Layer, x: Output): Output => layer.swap(x, 0, 1);

function zeros(layer: Layer, sizes: readonly Size[]): Output {
  return layer.op('Fill', [layer.shapeOf(sizes), layer.constant(0, layer.dtype)]);
}

/** The inputs of the steps as a list, and the mask by steps. */
function sequenceOf(layer: Layer, { prepared, mask }: Plan) {
  const turned = (x: Output): Output => (layer.config.bool('go_backwards', false) ? layer.reverse(x, 0) : x);
  const x = turned(timeFirst(layer, prepared));
  const shape = layer.constant(elementShape(layer.sizes(prepared).filter((_, i) => i !== 1)), 'int32');
  const list = layer.op('TensorListFromTensor', [x, shape], { element_dtype: x.dtype });
  const element = layer
    .sizes(x)
    .slice(1)
    .map((size) => (typeof size === 'number' ? size : null));
  return {
    steps: layer.size(x, 0),
    at(step: Output): Output {
      const item = layer.op('TensorListGetItem', [list, step, shape], { element_dtype: x.dtype });
      layer.graph.setShape(item, element);
      return item;
    },
    mask: mask && turned(timeFirst(layer, layer.cast(mask, 'bool'))),
  };
}

/** mask ? a : b for each element of the batch. */
function chosen(layer: Layer, mask: Output, a: Output, b: Output): Output {
  const wide = range(1, layer.rank(a)).reduce((x) => layer.expand(x, -1), mask);
  return layer.op('SelectV2', [wide, a, b]);
}

/** Runs the cell over all steps. A step that the mask leaves out changes nothing. */
function runSteps(layer: Layer, plan: Plan, wantsAll: boolean): Steps {
  const { cell, initial, prepared } = plan;
  const sequence = sequenceOf(layer, plan);
  const outputSizes = [layer.size(prepared, 0), ...cell.output(prepared)];
  const shape = layer.constant(elementShape(outputSizes), 'int32');
  const listAttrs = { element_dtype: layer.dtype };
  const stepCount = layer.shapeOf([sequence.steps]);
  const count = layer.reshape(stepCount, []);
  const list = wantsAll ? [layer.op('TensorListReserve', [shape, count], listAttrs)] : [];
  const isZeroed = layer.config.bool('zero_output_for_mask', false);
  const first = [layer.constant(0, 'int32'), zeros(layer, outputSizes), ...list, ...initial];
  const body = (step: Output, before: Output, ...rest: Output[]): Output[] => {
    const [outputs, states] = [rest.slice(0, list.length), rest.slice(list.length)];
    const [output, next] = cell.step(sequence.at(step), states);
    const mask = sequence.mask && layer.op('GatherV2', [sequence.mask, step, 0]);
    const kept = mask
      ? chosen(layer, mask, output, isZeroed ? layer.op('ZerosLike', [output]) : before)
      : output;
    const after = mask ? next.map((state, i) => chosen(layer, mask, state, states[i]!)) : next;
    const stored = outputs.map((all) => layer.op('TensorListSetItem', [all, step, kept], listAttrs));
    return [layer.add(step, 1), kept, ...stored, ...after];
  };
  const name = layer.graph.uniqueName(`${layer.scope}/while`);
  const results = layer.graph.whileLoop((step) => layer.op('Less', [step, count]), body, first, { name });
  const [, last, ...rest] = results as [Output, Output, ...Output[]];
  return {
    last,
    all: list.length > 0 ? stackOf(layer, rest[0]!, shape, outputSizes, sequence.steps) : undefined,
    states: rest.slice(list.length),
  };
}

/** [batch, time, ...] from a list of steps. */
function stackOf(layer: Layer, list: Output, shape: Output, sizes: readonly Size[], steps: Size): Output {
  const all = layer.op('TensorListStack', [list, shape], { element_dtype: layer.dtype });
  const known = [steps, ...sizes].map((size) => (typeof size === 'number' ? size : null));
  layer.graph.setShape(all, known);
  return timeFirst(layer, all);
}

/** The states that a call gives: as further inputs, or by their name. */
function statesOf(call: Call): Output[] {
  const given = call.argument('initial_state', 1);
  const named = given === undefined || given === null ? [] : tensorsIn(given);
  return (named.length > 0 ? named : call.inputs.slice(1)).map(({ output }) => output);
}

/**
 * The mask that the steps follow. Keras 3 takes that of the input only if the input is the only tensor of the call, so
 * not beside given states; a mask that is an argument counts always.
 */
const stepMask = (layer: Layer, call: Call, given: readonly Output[]): Output | undefined =>
  layer.model.isKeras3 && given.length > 0 ? call.tensor('mask', 2)?.output : call.mask;

/** The states that a stateful layer keeps between calls. */
function keptStates(layer: Layer, prepared: Output, sizes: readonly (readonly Size[])[]): Variable[] {
  if (!layer.config.bool('stateful', false)) return [];
  const batch = layer.known(prepared, 0);
  const fixed = (size: Size): number => {
    if (typeof size !== 'number') throw layer.refuse('the sizes of kept states must be known');
    return size;
  };
  return sizes.map((own, i) => layer.state(`state_${i}`, [batch, ...own.map(fixed)]));
}

/** The value, after the variables have got their next ones. */
function afterKeeping(
  layer: Layer,
  value: Output,
  kept: readonly Variable[],
  next: readonly Output[],
): Output {
  if (kept.length === 0) return value;
  const { graph } = layer;
  const controlInputs = kept.map(({ handle }, i) =>
    graph.op('AssignVariableOp', [handle, next[i]!], {
      name: graph.uniqueName(`${layer.scope}/keep`),
    }),
  );
  const name = graph.uniqueName(`${layer.scope}/kept`);
  return graph.op('Identity', [value], { name, controlInputs }).output(0);
}

const recurrent: LayerFunction = (layer, call) => {
  const { config } = layer;
  const cell = cellOfLayer(layer);
  cell.declare(layer.known(call.input, -1));
  const prepared = cell.prepare(call.input);
  const [batch] = layer.sizes(prepared) as [Size];
  const sizes = cell.states(prepared);
  const given = statesOf(call);
  if (given.length > 0 && given.length !== sizes.length)
    throw layer.refuse(`it needs ${sizes.length} initial states, not ${given.length}`);
  const kept = keptStates(layer, prepared, sizes);
  const initial = sizes.map((own, i) => given[i] ?? kept[i]?.value ?? zeros(layer, [batch, ...own]));
  const mask = stepMask(layer, call, given);
  const wantsAll = config.bool('return_sequences', false);
  const { last, all, states } = runSteps(layer, { cell, prepared, initial, mask }, wantsAll);
  const value = afterKeeping(layer, all ?? last, kept, states);
  const output: KerasTensor = all ? { output: value, mask: call.mask } : { output: value };
  return config.bool('return_state', false)
    ? [output, ...states.map((state) => ({ output: state }))]
    : output;
};

// ---- around other layers ----

/** The layers of both directions, as Keras 2 and 3 describe them. */
function directionsOf(layer: Layer): [Layer, Layer] {
  const forward = layer.config.object('layer');
  const described = layer.config.has('backward_layer') ? layer.config.object('backward_layer') : undefined;
  const settings = objectOr(forward.config);
  const mirrored = { ...forward, config: { ...settings, go_backwards: settings.go_backwards !== true } };
  const prepared = (json: Json, prefix: string): Json => {
    const config = objectOr(json.config);
    const name = String(config.name);
    const isZeroed = config.return_sequences === true;
    return {
      ...json,
      config: {
        ...config,
        zero_output_for_mask: isZeroed,
        name: name.startsWith(prefix) ? name : `${prefix}${name}`,
      },
    };
  };
  return [
    layer.child('forward_layer', prepared(forward, 'forward_')),
    layer.child('backward_layer', prepared(described ?? mirrored, 'backward_')),
  ];
}

/** The results of both directions as one. */
function merged(layer: Layer, a: Output, b: Output): Output[] {
  switch (layer.config.value('merge_mode')) {
    case 'concat':
      return [layer.concat([a, b], -1)];
    case 'sum':
      return [layer.add(a, b)];
    case 'ave':
      return [layer.mul(layer.add(a, b), 0.5)];
    case 'mul':
      return [layer.mul(a, b)];
    case undefined:
      return [a, b];
    default:
      throw layer.refuse('merge_mode is not known');
  }
}

const bidirectional: LayerFunction = (layer, call) => {
  const [forward, backward] = directionsOf(layer);
  const states = statesOf(call);
  const half = states.length / 2;
  const mask = call.tensor('mask', 2);
  const given = (from: number): Call => {
    const own = states.slice(from, from + half).map((output) => ({ output }));
    return new Call([call.inputs[0]!], {
      ...(own.length > 0 && { initial_state: own }),
      ...(mask && { mask }),
    });
  };
  const [first, ...firstStates] = forward.call(given(0));
  const [second, ...secondStates] = backward.call(given(half));
  const isSequence = forward.config.bool('return_sequences', false);
  const turned = isSequence ? layer.reverse(second!.output, 1) : second!.output;
  const outputs = merged(layer, first!.output, turned).map(
    (output): KerasTensor => ({ output, mask: first!.mask }),
  );
  return [...outputs, ...firstStates, ...secondStates];
};

/** Time becomes part of the batch. */
const timeDistributed: LayerFunction = (layer, { input, mask }) => {
  const inner = layer.child('layer', layer.config.object('layer'));
  const [batch, time, ...sizes] = layer.sizes(input) as [Size, Size, ...Size[]];
  const output = inner.apply(layer.reshape(input, [layer.times(batch, time), ...sizes]));
  return { output: layer.reshape(output, [batch, time, ...layer.sizes(output).slice(1)]), mask };
};

export const RECURRENT: Readonly<Record<string, LayerFunction>> = {
  ...Object.fromEntries([...CELL_LAYERS, 'RNN'].map((name) => [name, recurrent])),
  /* Cells are parts of RNN; alone they are no layers of a model. */
  ...Object.fromEntries(CELL_NAMES.map((name): [string, LayerFunction] => [name, notAlone])),
  Bidirectional: bidirectional,
  TimeDistributed: timeDistributed,
};

function notAlone(layer: Layer): never {
  throw layer.refuse('a cell must be part of a recurrent layer');
}
