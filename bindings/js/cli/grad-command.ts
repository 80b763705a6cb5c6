/** `tfcore-wasm grad`: adds the gradient operations to a graph. */
import { init } from '../init.js';
import type { Output } from '../graph/operation.js';
import { columns } from '../base/columns.js';
import { Command, CommandError, plural, shapeText } from './command-line.js';
import { TAGS_OPTION, isText, openModel, writeFile } from './model-file.js';

export const gradCommand: Command = {
  summary: 'Adds the gradients of y by x to a graph and writes the new graph.',
  words: ['model.pb'],
  options: {
    y: {
      value: 'loss',
      repeats: true,
      required: true,
      help: "what is differentiated, 'node' or 'node:1'; the sum, where there are several",
    },
    x: { value: 'w', repeats: true, required: true, help: 'by what; commas or more --x for several' },
    name: { value: 'prefix', help: "what the new operations' names begin with (gradients)" },
    tags: TAGS_OPTION,
    out: { value: 'new.pb', help: 'the new graph; .pbtxt writes text (model.grad.pb)' },
  },
  notes: ["Prints the names of the gradients: fetch them with 'tfcore-wasm run'."],
  async run(args, write) {
    const [file] = args.words as [string];
    const tf = await init({ threads: 1 });
    const { graph } = await openModel(tf, file, args);
    const outputs = (option: string): Output[] =>
      args
        .all(option)
        .flatMap((list) => list.split(','))
        .filter((name) => name !== '')
        .map((name) => {
          try {
            return graph.output(name);
          } catch (error) {
            throw new CommandError(
              `--${option} ${name}: the graph has no such output: ${(error as Error).message}`,
            );
          }
        });
    const [ys, xs] = [outputs('y'), outputs('x')];
    const before = graph.operations().length;
    const prefix = args.one('name');
    const gradients = graph.gradients(ys, xs, prefix === undefined ? {} : { name: prefix });
    const to = args.one('out') ?? file.replace(/(\.[^./\\]*)?$/, (extension) => `.grad${extension || '.pb'}`);
    writeFile(to, isText(to) ? graph.toText() : graph.toGraphDef());
    write(
      columns(
        xs.map((x, i) => {
          const gradient = gradients[i];
          return gradient
            ? [`d/d ${x.name}`, gradient.name, gradient.dtype, shapeText(gradient.shape)]
            : [`d/d ${x.name}`, `none: ${args.all('y').join(', ')} does not depend on it`];
        }),
      ),
    );
    write(`\n${to}: ${plural(graph.operations().length - before, 'operation')} more\n`);
    return 0;
  },
};
