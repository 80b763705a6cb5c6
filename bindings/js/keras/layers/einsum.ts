/** EinsumDense: products with a kernel whose dimensions letters name. */
import type { Output } from '../../graph/operation.js';
import { activate } from '../activations.js';
import type { Layer, LayerFunction } from '../layer.js';
import { Size, range } from '../ops.js';

/** The letters of an equation 'abc,cd->abd'. An ellipsis becomes as many capital letters as it stands for. */
interface Equation {
  readonly input: readonly string[];
  readonly kernel: readonly string[];
  readonly output: readonly string[];
}

function equationOf(layer: Layer, rank: number): Equation {
  const text = layer.config.text('equation').replaceAll(' ', '');
  const [, input, kernel, output] = /^([^,]+),([^-]+)->(.+)$/.exec(text) ?? [];
  if (!input || !kernel || !output) throw layer.refuse(`equation '${text}' is not valid`);
  const count = rank - input.replace('...', '').length;
  const dots = range(0, count).map((i) => String.fromCharCode(65 + i));
  const letters = (part: string): string[] =>
    part.split(/(\.\.\.)/).flatMap((piece) => (piece === '...' ? dots : [...piece]));
  return { input: letters(input), kernel: letters(kernel), output: letters(output) };
}

/** The sizes of the kernel: from the input, or the output that the layer is told. */
function kernelSizes(layer: Layer, x: Output, { input, kernel, output }: Equation): number[] {
  const wanted = layer.config.value('output_shape');
  const told = (Array.isArray(wanted) ? wanted : [wanted]) as (number | null)[];
  return kernel.map((letter) => {
    const inOutput = output.indexOf(letter);
    const fromEnd = inOutput < 0 ? undefined : told.at(inOutput - output.length);
    if (input.includes(letter)) return layer.known(x, input.indexOf(letter));
    if (typeof fromEnd !== 'number') throw layer.refuse(`output_shape does not tell the size of '${letter}'`);
    return fromEnd;
  });
}

/** As a product of matrices: what both have and the output lacks is summed. */
function product(layer: Layer, x: Output, kernel: Output, equation: Equation): Output {
  const { input, kernel: inKernel, output } = equation;
  const summed = input.filter((letter) => inKernel.includes(letter));
  if (summed.some((letter) => output.includes(letter)))
    return layer.op('Einsum', [[x, kernel]], {
      equation: `${input.join('')},${inKernel.join('')}->${output.join('')}`,
    });
  const [rows, columns] = [input, inKernel].map((all) =>
    all.filter((letter) => !summed.includes(letter)),
  ) as [string[], string[]];
  const order = (from: readonly string[], to: readonly string[]): number[] =>
    to.map((letter) => from.indexOf(letter));
  const sizes = layer.sizes(x);
  const kernelShape = kernel.shape as number[];
  const [rowOrder, columnOrder] = [order(input, rows), order(inKernel, columns)];
  const depth = order(inKernel, summed).reduce((all, i) => all * kernelShape[i]!, 1);
  const left = layer.reshape(layer.transpose(x, [...rowOrder, ...order(input, summed)]), [-1, depth]);
  const right = layer.reshape(layer.transpose(kernel, [...order(inKernel, summed), ...columnOrder]), [
    depth,
    -1,
  ]);
  const all: Size[] = [...rowOrder.map((i) => sizes[i]!), ...columnOrder.map((i) => kernelShape[i]!)];
  const result = layer.reshape(layer.op('MatMul', [left, right]), all);
  return layer.transpose(result, order([...rows, ...columns], output));
}

const einsumDense: LayerFunction = (layer, { input }) => {
  const { config } = layer;
  const equation = equationOf(layer, layer.rank(input));
  const sizes = kernelSizes(layer, input, equation);
  const result = product(layer, input, layer.weight('kernel', sizes), equation);
  if (!config.has('bias_axes')) return activate(layer, result, config.value('activation'));
  const axes = config.text('bias_axes');
  const { output } = equation;
  const first = Math.min(...[...axes].map((letter) => output.indexOf(letter)));
  const shape = output
    .slice(first)
    .map((letter, i) => (axes.includes(letter) ? layer.known(result, first + i) : 1));
  return activate(layer, layer.add(result, layer.weight('bias', shape)), config.value('activation'));
};

export const EINSUM: Readonly<Record<string, LayerFunction>> = { EinsumDense: einsumDense };
