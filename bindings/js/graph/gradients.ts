/** Calls TF_AddGradients: adds derivatives as operations of the graph. */
import { Schema, checkOptions, shown } from '../base/arguments.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { OutputPtr } from '../generated/abi.js';
import type { GraphCore } from './graph-core.js';
import { Input, Output, Variable } from './operation.js';

export interface GradientOptions {
  /** The incoming gradient of each y; by default 1 for all elements. */
  gradYs?: Input | readonly Input[];
  /** Treated as constants. */
  stopGradients?: Input | readonly Input[];
  /** The prefix of the new operations' names. Default: gradients. */
  name?: string;
  /** The result where no gradient flows: null, or zeros of the shape of x. Default: 'none'. */
  unconnectedGradients?: 'none' | 'zero';
}

const GRADIENT_OPTIONS: Schema<GradientOptions> = {
  gradYs: 'anything',
  stopGradients: 'anything',
  name: 'a string',
  unconnectedGradients: 'anything',
};

export type MaybeList<T> = T | readonly T[];

/** See Graph.gradients. */
export function addGradients(
  graph: GraphCore,
  ys: MaybeList<Input | null>,
  xs: MaybeList<Input>,
  options: GradientOptions,
): (Output | null)[] {
  checkOptions<GradientOptions>('gradients', options, GRADIENT_OPTIONS);
  const { name, unconnectedGradients: unconnected = 'none' } = options;
  if (unconnected !== 'none' && unconnected !== 'zero') {
    throw new InvalidArgumentError(
      `option 'unconnectedGradients' of gradients must be 'none' or 'zero', not ${shown(unconnected)}`,
    );
  }
  const y = graph.outputsOf('ys', ys);
  const inputs = graph.inputsOf('xs', xs);
  const x = inputs.map((input) => graph.own(input instanceof Variable ? input.handle : input));
  const dy = options.gradYs && graph.outputsOf('gradYs', options.gradYs);
  const stops = graph.outputsOf('stopGradients', options.stopGradients ?? []);
  if (dy && dy.length !== y.length)
    throw new InvalidArgumentError(`Must specify a gradient input for each output.`);
  const found = nodesFor(graph, name, y, x, dy, stops);
  if (!found.includes(null)) return found;
  if (unconnected === 'zero')
    return found.map((gradient, i) => gradient ?? graph.op('ZerosLike', [inputs[i]!]).output(0));
  const names = (list: readonly Output[]): string =>
    list
      .slice(0, 4)
      .map((output) => output.name)
      .join(', ') + (list.length > 4 ? ', …' : '');
  graph.noteUnconnected(`none flows from ${names(y)} to ${names(x.filter((_, i) => found[i] === null))}`);
  return found;
}

/** The call itself. */
function nodesFor(
  graph: GraphCore,
  name: string | undefined,
  ys: readonly Output[],
  xs: readonly Output[],
  gradYs: readonly Output[] | undefined,
  stops: readonly Output[],
): (Output | null)[] {
  const { wasm } = graph;
  return wasm.scope((scope) => {
    const result: OutputPtr = scope.alloc(8 * xs.length);
    const [y, x, stopped] = [scope.outputs(ys), scope.outputs(xs), scope.outputs(stops)];
    const dy = gradYs ? scope.outputs(gradYs) : 0;
    const prefix = name === undefined ? 0 : scope.string(name);
    wasm.checked((status) =>
      wasm.call.TF_WasmAddGradients(
        graph.pointer,
        prefix,
        y,
        ys.length,
        x,
        xs.length,
        dy,
        stopped,
        stops.length,
        result,
        status,
      ),
    );
    return xs.map((_, i) => (wasm.u32[(result >>> 2) + 2 * i] === 0 ? null : graph.outputAt(result, i)));
  });
}
