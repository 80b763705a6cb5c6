/** `tfcore-wasm inspect`: describes a model, and lists what this engine does not support. */
import { Missing, UnknownAttr, findMissingIn, findUnknownAttrsIn } from '../models/compatibility.js';
import { GraphDefContent, GraphDefNode, attrOf } from '../models/graph-def-nodes.js';
import { interfaceNodes } from '../models/graph-interface.js';
import { flatten } from '../loading/flat-tensors.js';
import { init } from '../init.js';
import type { SignatureDef } from '../messages/meta-graph.js';
import { isControlInput, nodeOfInput } from '../messages/node-def.js';
import { TF, runtimeOf } from '../tf.js';
import { columns } from '../base/columns.js';
import { Command, plural, shapeText } from './command-line.js';
import { ReadParts, TAGS_OPTION, readContent, readParts } from './model-file.js';

interface Value {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly (number | null)[] | null;
}

export interface Report {
  /** 'GraphDef', 'SavedModel', … */
  readonly format: string;
  readonly nodes: number;
  readonly producer: number;
  readonly inputs: Value[];
  readonly outputs: Value[];
  /** Those of the model's functions, if its format has them. */
  readonly signatures: { name: string; inputs: Value[]; outputs: Value[] }[];
  /** The number of occurrences of each op in the graph and in its functions. */
  readonly ops: Record<string, number>;
  readonly functions: { name: string; nodes: number }[];
  readonly missing: Missing[];
  /** What is missing only in functions that the graph never calls. */
  readonly uncalled: Missing[];
  readonly unknownAttrs: UnknownAttr[];
  /** Why the import fails, if not because something is missing. */
  readonly problem?: string;
}

/** The nodes that are the graph's inputs and outputs, as tf.load has them. */
function interfaceIn({ nodes }: GraphDefContent, tf: TF): Record<'inputs' | 'outputs', GraphDefNode[]> {
  const indexes = new Map(nodes.map(({ name }, i) => [name, i]));
  const { inputs, outputs } = interfaceNodes(
    nodes.map(({ name, op, input }) => ({
      name,
      op,
      reads: input.flatMap((one) => (isControlInput(one) ? [] : (indexes.get(nodeOfInput(one)) ?? []))),
      hasOutputs: (runtimeOf(tf).findOpDef(op)?.output_arg.length ?? 1) > 0,
    })),
  );
  const at = (found: readonly number[]): GraphDefNode[] => found.map((i) => nodes[i]!);
  return { inputs: at(inputs), outputs: at(outputs) };
}

/**
 * The outputs of nodes, with the inferred dtypes and shapes; if the graph cannot be imported, their names and
 * the reason.
 */
function describeOutputs(
  tf: TF,
  graphDef: Uint8Array | string,
  nodes: readonly GraphDefNode[],
): { outputs: Value[]; problem?: string } {
  const graph = new tf.Graph();
  try {
    graph.importGraphDef(graphDef);
    return {
      outputs: nodes.flatMap(({ name }) =>
        graph.operation(name)!.outputs.map((output) => ({
          name: output.index === 0 ? name : output.name,
          dtype: output.dtype,
          shape: output.shape,
        })),
      ),
    };
  } catch (error) {
    return {
      outputs: nodes.map(({ name }) => ({ name, dtype: '?', shape: null })),
      problem: (error as Error).message,
    };
  } finally {
    graph.dispose();
  }
}

const valuesOf = (infos: SignatureDef['inputs']): Value[] =>
  flatten(infos ?? new Map()).map(({ key, dtype, shape }) => ({
    name: key,
    dtype: dtype ?? '?',
    shape: shape ?? null,
  }));

export function inspect(
  tf: TF,
  content: GraphDefContent,
  { format, graphDef, signatures }: ReadParts,
): Report {
  const { nodes, functions, producer } = content;
  const counts = new Map<string, number>();
  for (const { op } of [...nodes, ...[...functions.values()].flatMap((body) => body.nodes)])
    counts.set(op, (counts.get(op) ?? 0) + 1);
  const found = interfaceIn(content, tf);
  const inputs = found.inputs.map((node) => {
    const shape = attrOf(node, 'shape', runtimeOf(tf).findOpDef(node.op)) as Value['shape'] | undefined;
    /* Old graphs have [] for unknown shapes. */
    return {
      name: node.name,
      dtype: String(attrOf(node, 'dtype') ?? '?'),
      shape: shape?.length === 0 && producer < 24 ? null : (shape ?? null),
    };
  });
  const { missing, uncalled } = findMissingIn(runtimeOf(tf), content);
  const { outputs, problem } = describeOutputs(tf, graphDef, found.outputs);
  return {
    format,
    nodes: nodes.length,
    producer,
    inputs,
    outputs,
    signatures: [...signatures].map(([name, def]) => ({
      name,
      inputs: valuesOf(def.inputs),
      outputs: valuesOf(def.outputs),
    })),
    ops: Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))),
    functions: [...functions].map(([name, body]) => ({ name, nodes: body.nodes.length })),
    missing,
    uncalled,
    unknownAttrs: findUnknownAttrsIn(runtimeOf(tf), content),
    ...(problem !== undefined && missing.length === 0 ? { problem } : {}),
  };
}

const NAMES_SHOWN = 4;

function rowOf(op: string, what: string, nodes: readonly string[]): string[] {
  const names =
    nodes.slice(0, NAMES_SHOWN).join(', ') +
    (nodes.length > NAMES_SHOWN ? `, and ${nodes.length - NAMES_SHOWN} more` : '');
  return [op, what, plural(nodes.length, 'node'), names];
}

function missingRow({ op, dtype, function: isFunction, nodes }: Missing): string[] {
  return rowOf(
    op,
    dtype ? `no kernel for ${dtype}` : isFunction ? 'no such function in the library' : 'no such op',
    nodes,
  );
}

function printReport(file: string, report: Report): string {
  const section = (title: string, body: string): string => (body === '' ? '' : `\n${title}\n${body}`);
  const values = (list: readonly Value[]): string =>
    columns(
      list.map(({ name, dtype, shape }) => [name, dtype, shapeText(shape)]),
      { indent: 2 },
    );
  const ops = Object.entries(report.ops);
  const head = [
    plural(report.nodes, 'node'),
    ...(report.functions.length ? [plural(report.functions.length, 'function')] : []),
    `producer ${report.producer}`,
  ];
  const named = report.signatures.flatMap(({ name, inputs, outputs }) => [
    section(`inputs of ${name}`, values(inputs)),
    section(`outputs of ${name}`, values(outputs)),
  ]);
  return [
    `${file}: ${report.format === 'GraphDef' ? '' : `${report.format}, `}${head.join(', ')}\n`,
    ...(named.length > 0
      ? named
      : [section('inputs', values(report.inputs)), section('outputs', values(report.outputs))]),
    section(
      `ops (${ops.length})`,
      columns(
        ops.map(([op, count]) => [op, String(count)]),
        { indent: 2, right: [1] },
      ),
    ),
    section(
      'functions',
      columns(
        report.functions.map(({ name, nodes }) => [name, plural(nodes, 'node')]),
        { indent: 2 },
      ),
    ),
    section(
      'attrs without effect',
      columns(
        report.unknownAttrs.map(({ op, attr, nodes }) => rowOf(op, attr, nodes)),
        { indent: 2 },
      ),
    ),
    section(
      'missing in functions that the graph never calls',
      columns(report.uncalled.map(missingRow), { indent: 2 }),
    ),
    report.problem !== undefined
      ? `\nit cannot be imported: ${report.problem}\n`
      : report.missing.length === 0
        ? `\nnothing${report.uncalled.length > 0 ? ' else' : ''} is missing\n`
        : section('missing', columns(report.missing.map(missingRow), { indent: 2 })),
  ].join('');
}

export const inspectCommand: Command = {
  summary: 'Tells what a model is made of: inputs, outputs, ops, functions, and what of it is not here.',
  words: ['model.pb'],
  options: { json: { help: 'prints the same as JSON' }, tags: TAGS_OPTION },
  notes: [
    'A model is a file, a folder or a zip archive: a SavedModel, a frozen GraphDef (.pb, .pbtxt), a MetaGraphDef',
    '(.meta) with its checkpoint, or a graph model of TensorFlow.js (model.json).',
    'The exit code is 1 when something is missing, or the graph is damaged.',
  ],
  async run(args, write) {
    const [file] = args.words as [string];
    const tf = await init({ threads: 1 });
    const parts = await readParts(tf, file, args);
    const report = inspect(tf, readContent(tf, file, parts), parts);
    write(args.flags.has('json') ? `${JSON.stringify(report, null, 2)}\n` : printReport(file, report));
    return report.missing.length === 0 && report.problem === undefined ? 0 : 1;
  },
};
