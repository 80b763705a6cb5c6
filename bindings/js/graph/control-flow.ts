/**
 * Calls, branches and loops: functions of a graph as operations, from FunctionDefs or from traced callables.
 */
import { checkList, checkOptions, shown } from '../base/arguments.js';
import type { AttrInput, FuncAttr } from '../messages/attr-value.js';
import { InvalidArgumentError, NotFoundError } from '../base/errors.js';
import { FunctionDef } from './function-def.js';
import { didYouMean } from '../base/did-you-mean.js';
import { BodyTrace, GraphCore, OP_OPTIONS, OpOptions } from './graph-core.js';
import {
  addFunction,
  addGradient,
  findFunction,
  functionsOf,
  gradientOf,
  removeFunction,
  toFunction,
} from './graph-functions.js';
import { opNames } from './hints.js';
import type { Operand } from './op-inputs.js';
import { type Operation, Output, Variable } from './operation.js';
import { fieldsOf, textOf } from '../messages/protobuf.js';

/** The return value of a traced callable: outputs, or values that become constants. */
export type Traced = Operand | readonly Operand[];
/** A function: its name in the graph, its definition, or a callable that builds it. */
export type Body = string | FunctionDef | ((...inputs: Output[]) => Traced);

export interface CallOptions extends OpOptions {
  attrs?: Record<string, AttrInput>;
}

type Shape = (number | null)[] | null;

/**
 * TensorFlow then runs branches and loops node by node. Without it, each round of a loop takes a part of its stack, and
 * a long loop ends its process.
 */
const LOWERED = { _lower_using_switch_merge: true } as const;

const hasResource = (output: Output): boolean => output.dtype === 'resource' || output.dtype === 'variant';

/** An argument of the function that `graph` becomes, named after the outer value. */
function argument(graph: GraphCore, value: Output, shape: Shape): Output {
  const own = value.operation.name.replace(/^.*\//, '');
  const name = graph.uniqueName(/^Const(_\d+)?$/.test(own) ? 'arg' : own);
  return graph.placeholder(value.dtype, hasResource(value) ? null : shape, { name });
}

/** Whether an op is stateful, or a function calls a stateful one. */
function isStateful(graph: GraphCore, type: string, seen = new Set<string>()): boolean {
  const signature = graph.findOpDef(type);
  if (!signature || signature.is_stateful) return signature !== undefined;
  const definition = seen.has(type) ? undefined : findFunction(graph, type);
  if (!definition) return false;
  seen.add(type);
  for (const node of fieldsOf(definition.toProto())) {
    if (node.number !== 3) continue;
    for (const field of fieldsOf(node.bytes))
      if (field.number === 2 && isStateful(graph, textOf(field), seen)) return true;
  }
  return false;
}

/** The data that makes a graph the body of a function: its outer graph, and its captures. */
class Trace implements BodyTrace {
  /** The captured outer values, by name. */
  private readonly captured = new Map<string, { readonly outside: Output; readonly inside: Output }>();
  /** Functions of the outer graph. */
  private readonly known = new Set<string>();
  private lastStateful: Operation | undefined;

  constructor(
    private readonly graph: GraphCore,
    private readonly outer: GraphCore,
  ) {
    for (const definition of functionsOf(outer)) {
      addFunction(graph, definition);
      this.known.add(definition.name);
      const gradient = gradientOf(outer, definition.name);
      if (gradient !== undefined) addGradient(graph, definition.name, gradient);
    }
  }

  get captures(): Output[] {
    return [...this.captured.values()].map(({ outside }) => outside);
  }

  /**
   * The value inside for `outside`, an output of the surrounding graph or of one around that: an argument of
   * the function.
   */
  capture(outside: Output): Output {
    const near = this.outer.adopt(outside);
    const known = this.captured.get(near.name);
    if (known) return known.inside;
    const inside = this.graph.whileTracing(undefined, () => argument(this.graph, near, near.shape));
    this.captured.set(near.name, { outside: near, inside });
    return inside;
  }

  /**
   * Adds a stateful operation. Stateful operations run in the order in which they are written, as if each
   * were called.
   */
  inOrder(
    type: string,
    options: OpOptions,
    make: (controlInputs: readonly Operation[] | undefined) => Operation,
  ): Operation {
    if (!isStateful(this.graph, type)) return make(options.controlInputs);
    return (this.lastStateful = make(
      this.lastStateful ? [...(options.controlInputs ?? []), this.lastStateful] : options.controlInputs,
    ));
  }

  /** The last stateful operation; it comes after the others. */
  get stateful(): Operation | undefined {
    return this.lastStateful;
  }

  /** Functions added with the body, including those of gradients. */
  get functions(): FunctionDef[] {
    return functionsOf(this.graph).filter(({ name }) => !this.known.has(name));
  }
}

/** The bodies of one operation, and the functions that it adds to its graph: all of them, or none. */
class Bodies {
  private readonly traced: TracedBody[] = [];
  private readonly defined: string[] = [];

  private constructor(
    private readonly graph: GraphCore,
    private readonly inputs: readonly Output[],
  ) {}

  static with<T>(graph: GraphCore, inputs: readonly Output[], use: (bodies: Bodies) => T): T {
    const bodies = new Bodies(graph, inputs);
    try {
      return use(bodies);
    } catch (error) {
      for (const name of bodies.defined) removeFunction(graph, name);
      throw error;
    } finally {
      for (const body of bodies.traced) body.dispose();
    }
  }

  trace(what: string, body: Body, shapes: readonly Shape[]): TracedBody {
    const traced = new TracedBody(this.graph, what, body, this.inputs, shapes);
    this.traced.push(traced);
    return traced;
  }

  /**
   * Adds the functions that a body calls, before the next body is traced and chooses names that must be free.
   */
  accept(body: TracedBody): void {
    for (const definition of body.functions) this.add(definition);
  }

  /** Adds a function to the graph unless the graph has it. */
  add(definition: FunctionDef): void {
    const isNew = !findFunction(this.graph, definition.name);
    addFunction(this.graph, definition);
    if (isNew) this.defined.push(definition.name);
  }
}

/** A traced body: a graph of its own that becomes a function. */
class TracedBody {
  readonly args: Output[] = [];
  readonly results: Output[] = [];
  private readonly trace: Trace;
  private readonly graph: GraphCore;
  /** The called function itself, if the body only calls a function. */
  private called: Operation | undefined;

  constructor(
    private readonly outer: GraphCore,
    private readonly what: string,
    body: Body,
    inputs: readonly Output[],
    shapes: readonly Shape[],
  ) {
    const graph = (this.graph = outer.newBody());
    try {
      this.trace = graph.trace = new Trace(graph, outer);
      this.args.push(...inputs.map((input, i) => argument(graph, input, shapes[i]!)));
      outer.whileTracing(graph, () => this.run(body));
    } catch (error) {
      graph.dispose();
      throw error;
    }
  }

  private run(body: Body): void {
    const { graph, args, results } = this;
    if (typeof body !== 'function' && typeof body !== 'string' && !(body instanceof FunctionDef)) {
      throw new InvalidArgumentError(
        `${this.what} must be a function that is called to build it, a FunctionDef or the name of one, not ${shown(body)}`,
      );
    }
    if (typeof body !== 'function') {
      results.push(...callFunction(graph, body, args, {}));
      this.called = graph.operations().at(-1);
      return;
    }
    const returned = body(...args);
    if (returned instanceof Promise) {
      returned.catch(() => undefined); // otherwise its rejection would be unhandled
      throw new InvalidArgumentError(`${this.what} returned a promise; it must return its outputs at once`);
    }
    const list =
      returned === undefined ? [] : Array.isArray(returned) ? (returned as Operand[]) : [returned as Operand];
    results.push(...Array.from(list, (value, i) => graph.asOutput(value, `output ${i} of ${this.what}`)));
  }

  get captures(): Output[] {
    return this.trace.captures;
  }

  get functions(): FunctionDef[] {
    return this.trace.functions;
  }

  get shapes(): Shape[] {
    return this.results.map((result) => result.shape);
  }

  get isStateful(): boolean {
    return this.trace.stateful !== undefined;
  }

  /**
   * The function, in the outer graph. Its arguments are followed by `captures`, and so are its results if
   * `passOn`.
   */
  define(bodies: Bodies, name: string, captures: readonly Output[], passOn = false): FuncAttr {
    if (this.called && captures.length === 0) {
      const attrs = Object.entries(this.called.attrs()).filter(([key]) => !key.startsWith('_'));
      return { name: this.called.type, attrs: Object.fromEntries(attrs) };
    }
    const inner = captures.map((capture) => this.trace.capture(capture));
    const definition = toFunction(this.graph, uniqueFunctionName(this.outer, name), {
      inputs: [...this.args, ...inner],
      outputs: passOn ? [...this.results, ...inner] : this.results,
      controlOutputs: this.trace.stateful ? [this.trace.stateful] : [],
    });
    bodies.add(definition);
    return { name: definition.name };
  }

  dispose(): void {
    this.graph.dispose();
  }
}

const union = (...lists: Output[][]): Output[] => [
  ...new Map(lists.flat().map((output) => [output.name, output])).values(),
];

/** The shape that covers both shapes. */
function mergeShapes(a: Shape, b: Shape): Shape {
  if (a === null || b === null || a.length !== b.length) return null;
  return a.map((size, i) => (size === b[i] ? size : null));
}

const sameShapes = (a: readonly Shape[], b: readonly Shape[]): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function checkResults(
  what: string,
  results: readonly Output[],
  expected: readonly Output[],
  like: string,
): void {
  if (results.length !== expected.length) {
    throw new InvalidArgumentError(
      `${what} returns ${counted(results.length, 'output')}, not ${expected.length} like ${like}`,
    );
  }
  results.forEach((result, i) => {
    const dtype = expected[i]!.dtype;
    if (result.dtype !== dtype)
      throw new InvalidArgumentError(
        `${what} returns ${result.dtype} as output ${i}, not ${dtype} like ${like}`,
      );
  });
}

/** See Graph.call. */
export function callFunction(
  graph: GraphCore,
  fn: string | FunctionDef,
  inputs: readonly (Operand | readonly Operand[])[],
  options: CallOptions,
): Output[] {
  if (fn instanceof FunctionDef) addFunction(graph, fn);
  const name = fn instanceof FunctionDef ? fn.name : fn;
  if (typeof name !== 'string')
    throw new InvalidArgumentError(`${shown(name)} is no function: neither a name nor a FunctionDef`);
  if (!graph.findOpDef(name))
    throw new NotFoundError(
      `Function ${name} is not defined.${didYouMean(name, opNames(graph.runtime, graph)).replace(/^; d/, ' D')}`,
    );
  return graph.op(name, inputs, options).outputs;
}

/** `base`, or base_1, base_2, …: a name that no function or op has. */
function uniqueFunctionName(graph: GraphCore, base: string): string {
  let name = base;
  for (let i = 1; graph.findOpDef(name); i++) name = `${base}_${i}`;
  return name;
}

/** The prefix of a node's function names. */
const functionBase = (node: string): string => node.replace(/[^A-Za-z0-9_]/g, '_');

/** See Graph.cond. */
export function addCond(
  graph: GraphCore,
  pred: Operand,
  then: Body,
  otherwise: Body,
  inputs: readonly Operand[],
  options: OpOptions,
): Output[] {
  checkOptions<OpOptions>('cond', options, OP_OPTIONS);
  checkList('the inputs of cond', inputs);
  const values = Array.from(inputs, (input, i) => graph.asOutput(input, `input ${i} of cond`));
  const shapes = values.map((value) => value.shape);
  return Bodies.with(graph, values, (bodies) => {
    const first = bodies.trace('the then branch of cond', then, shapes);
    bodies.accept(first);
    const second = bodies.trace('the else branch of cond', otherwise, shapes);
    bodies.accept(second);
    checkResults('the else branch of cond', second.results, first.results, 'the then branch');
    const captures = union(first.captures, second.captures);
    /* In a function, each capture adds an argument: its name must not be the one that is chosen here. */
    const condition = pred instanceof Output || pred instanceof Variable ? graph.own(pred) : pred;
    const name = options.name ?? graph.uniqueName('cond');
    const attrs: Record<string, AttrInput> = {
      Tout: first.results.map((result) => result.dtype),
      then_branch: first.define(bodies, `${functionBase(name)}_true`, captures),
      else_branch: second.define(bodies, `${functionBase(name)}_false`, captures),
      output_shapes: first.shapes.map((shape, i) => mergeShapes(shape, second.shapes[i]!)),
      ...LOWERED,
    };
    const type = first.isStateful || second.isStateful ? 'If' : 'StatelessIf';
    return graph.op(type, [condition, [...values, ...captures]], { ...options, name, attrs }).outputs;
  });
}

/** See Graph.whileLoop. */
export function addWhileLoop(
  graph: GraphCore,
  cond: Body,
  body: Body,
  inputs: readonly Operand[],
  options: OpOptions,
): Output[] {
  checkOptions<OpOptions>('whileLoop', options, OP_OPTIONS);
  checkList('the inputs of whileLoop', inputs);
  const values = Array.from(inputs, (input, i) => graph.asOutput(input, `input ${i} of whileLoop`));
  return Bodies.with(graph, values, (bodies) => {
    /* If the body changes a part of a shape, that part is unknown for its input too: so it is traced again
     * with less specific shapes, until it changes nothing. */
    let shapes = values.map((value): Shape => value.shape);
    let round: TracedBody;
    for (let settled = false; !settled; ) {
      round = bodies.trace('the body of whileLoop', body, shapes);
      checkResults('the body of whileLoop', round.results, values, 'the inputs');
      const merged = round.shapes.map((shape, i) => mergeShapes(shapes[i]!, shape));
      settled = sameShapes(merged, shapes);
      if (!settled) shapes = merged;
    }
    bodies.accept(round!);
    const test = bodies.trace('the condition of whileLoop', cond, shapes);
    bodies.accept(test);
    if (test.results.length !== 1)
      throw new InvalidArgumentError(
        `the condition of whileLoop returns ${counted(test.results.length, 'output')}, not 1`,
      );
    const captures = union(round!.captures, test.captures);
    const name = options.name ?? graph.uniqueName('while');
    const attrs: Record<string, AttrInput> = {
      cond: test.define(bodies, `${functionBase(name)}_cond`, captures),
      body: round!.define(bodies, `${functionBase(name)}_body`, captures, true),
      output_shapes: [...shapes, ...captures.map((capture) => capture.shape)],
      ...LOWERED,
    };
    const type = round!.isStateful || test.isStateful ? 'While' : 'StatelessWhile';
    return graph
      .op(type, [[...values, ...captures]], { ...options, name, attrs })
      .outputs.slice(0, values.length);
  });
}
