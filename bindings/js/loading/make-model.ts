/** tf.model: makes a model of a graph and a session, with the signatures that a program names. */
import { checkOptions, isPlainObject, shown } from '../base/arguments.js';
import { InvalidArgumentError } from '../base/errors.js';
import { Graph } from '../graph/graph.js';
import { Input, Output, checkInput, valueOf } from '../graph/operation.js';
import { Session } from '../session/session.js';
import { DEFAULT_SIGNATURE, Model } from './model.js';
import type { ModelTensor, Signature } from './signature.js';

/** Inputs and outputs of the graph, by the names under which `run` takes and returns them. */
export interface SignatureSpec {
  inputs: Readonly<Record<string, Input>>;
  outputs: Readonly<Record<string, Input>>;
}

export interface ModelSpec {
  session: Session;
  /** By name; `run` calls 'serving_default' without a name. */
  signatures: Readonly<Record<string, SignatureSpec>> | SignatureSpec;
}

export const tensorOf = (name: string, output: Output, shape = output.shape): ModelTensor => ({
  name,
  output,
  dtype: output.dtype,
  shape,
});

function tensorsOf(graph: Graph, what: string, record: unknown): ModelTensor[] {
  if (!isPlainObject(record))
    throw new InvalidArgumentError(
      `the ${what} of a signature are an object such as { x }, not ${shown(record)}`,
    );
  return Object.entries(record).map(([name, input]) => {
    checkInput(input, `${what}.${name}`);
    return tensorOf(name, graph.own(valueOf(input)));
  });
}

const isSignature = (value: object): value is SignatureSpec => 'inputs' in value && 'outputs' in value;

export function makeModel(spec: ModelSpec): Model {
  checkOptions<ModelSpec>('model', spec, { session: 'anything', signatures: 'an object' });
  const { session, signatures } = spec;
  if (!(session instanceof Session))
    throw new InvalidArgumentError(
      `a model needs a session: tf.model({ session, signatures }), not ${shown(session)}`,
    );
  const { graph } = session;
  const named = isSignature(signatures) ? { [DEFAULT_SIGNATURE]: signatures } : signatures;
  const made = Object.entries(named).map(([name, { inputs, outputs }]): [string, Signature] => [
    name,
    { name, inputs: tensorsOf(graph, 'inputs', inputs), outputs: tensorsOf(graph, 'outputs', outputs) },
  ]);
  return new Model('Graph', graph, session, Object.fromEntries(made), { initializers: [], assets: [] });
}
