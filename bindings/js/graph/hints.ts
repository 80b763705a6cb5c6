/** Advice for errors of the engine: lines that are appended to TensorFlow's message. */
import { closest } from '../base/did-you-mean.js';
import { TFError } from '../base/errors.js';
import type { Runtime } from '../engine/runtime.js';

/** Suggestions search at most this many names. */
const MOST_NAMES = 20_000;

const meant = (name: string, candidates: Iterable<string>): string | undefined => {
  const names = closest(name, candidates).map((near) => `'${near}'`);
  return names.length > 0 ? `Did you mean ${names.join(' or ')}?` : undefined;
};

/** The parts of a graph that hints use. */
export interface HintedGraph {
  operation(name: string): unknown;
  operations(): Iterable<{ readonly name: string }>;
  functions(): { readonly name: string }[];
  /** Whether some variables are not imported. */
  readonly hasMadeVariables: boolean;
}

/** The names of the ops of an engine and of the functions of a graph. */
export const opNames = (runtime: Runtime, graph?: HintedGraph): string[] => [
  ...(graph?.functions().map(({ name }) => name) ?? []),
  ...runtime.opNames(),
];

/** The names of a graph's first nodes. */
export function* nodeNames(graph: HintedGraph): Generator<string> {
  let left = MOST_NAMES;
  for (const { name } of graph.operations()) {
    if (left-- === 0) return;
    yield name;
  }
}

/** How the variables of a graph get their values. */
function initializerHint(graph: HintedGraph | undefined, message: string): string {
  if (graph?.hasMadeVariables) {
    return (
      'Variables have no values before they are initialised: run session.run(graph.initializer()) first. Those that were made later, such as the slots of an optimizer, ' +
      'need it too; it sets all of them anew, and variable.initializer one.'
    );
  }
  const own = ['init', 'init_all_vars_op', 'group_deps'].find((name) => graph?.operation(name));
  if (own !== undefined)
    return `Variables have no values before they are initialised: run session.run('${own}') first, or restore a checkpoint.`;
  const named = /(?:variable|value) (\S+?)(?: from|\.|$)/.exec(message)?.[1];
  return (
    `Variables have no values before they are initialised: run the operation that assigns ${named ?? 'them'} first (graph.initializer() for those that graph.variable makes), ` +
    'restore a checkpoint, or freeze the model where it was trained.'
  );
}

/** What is said of variables without a value: by reads, by updates, by optimizers, and of references. */
const UNINITIALIZED =
  /^(?:From .*\n)?(?:Could not find variable |Error while reading resource variable |Resource \S+\/N10tensorflow3VarE does not|Container \S+ does not exist\. \(Could not find resource|Invalid variable reference\.)|uninitialized value|handle is uninitialized/;

function hintFor(error: TFError, runtime: Runtime, graph: HintedGraph | undefined): string | undefined {
  const { message } = error;
  const [, op] = /Op type not registered '([^']+)'/.exec(message) ?? [];
  if (op !== undefined) return meant(op, opNames(runtime, graph));
  const [, called] = /Function (\S+) is not defined\./.exec(message) ?? [];
  if (called !== undefined) return meant(called, opNames(runtime, graph));
  if (UNINITIALIZED.test(message)) return initializerHint(graph, message);
  return undefined;
}

/** The error, with a helpful line if there is one. */
export function withHint<E>(error: E, runtime: Runtime, graph?: HintedGraph): E {
  if (!(error instanceof TFError)) return error;
  const hint = hintFor(error, runtime, graph);
  return hint === undefined ? error : error.hint(hint);
}
