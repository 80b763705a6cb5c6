/** FunctionDef: a function outside any graph, as its serialised message. Plain memory: nothing to dispose. */
import {
  Schema,
  checkList,
  checkOptions,
  checkReceivers,
  checkText,
  checkTexts,
  isPlainObject,
  shown,
} from '../base/arguments.js';
import { AttrInput, encodeAttr } from '../messages/attr-value.js';
import { counted, showAs } from '../base/console-line.js';
import type { DTypeName } from '../tensor/dtypes.js';
import { InvalidArgumentError } from '../base/errors.js';
import type { FunctionPtr, Null, Ptr, TextPtr, WasmAttrPtr, WasmFunctionSpecPtr } from '../generated/abi.js';
import { FunctionBody } from './function-body.js';
import type { Graph } from './graph.js';
import { GraphCore } from './graph-core.js';
import { refuseForeign } from '../messages/model-format.js';
import type { ArgDef, OpDef } from '../messages/op-def.js';
import { decodeOpDef, encodeAttrOf } from '../messages/op-def.js';
import { fieldsOf } from '../messages/protobuf.js';
import { Runtime, checkRuntime } from '../engine/runtime.js';
import { tensor } from '../tensor/convert.js';
import { Tensor, TensorLike } from '../tensor/tensor.js';
import { bytesOf, encodeText } from '../base/utf8.js';
import type { Scope } from '../engine/wasm.js';

export type FunctionAttrs = Record<string, AttrInput>;

/**
 * A node for `FunctionDef.create`; inputs are written as in a FunctionDef: an argument, 'node:output:0',
 * 'node:output'.
 */
export interface CreatedNode {
  name: string;
  op: string;
  inputs?: readonly string[];
  attrs?: FunctionAttrs;
  controlInputs?: readonly string[];
  device?: string;
}

export interface CreateSpec {
  name: string;
  /** 'x: T', 'xs: N*T', 'n: int32': the spec language of ops. */
  inputs: readonly string[];
  outputs: readonly string[];
  attrs?: readonly string[];
  nodes: readonly CreatedNode[];
  /** The sources of the results: { y: 'node:output:0' }. */
  returns: Record<string, string>;
  controlReturns?: Record<string, string>;
}

/** A node for `FunctionDef.define`; args are names of arguments and of results of earlier nodes. */
export interface DefinedNode {
  /** A name for every output; the first is the node's name too. */
  returns: readonly string[];
  op: string;
  args?: readonly string[];
  attrs?: FunctionAttrs;
  deps?: readonly string[];
  device?: string;
}

export interface DefineSpec {
  name: string;
  args: readonly string[];
  returns: readonly string[];
  attrs?: readonly string[];
  nodes: readonly DefinedNode[];
}

const CREATE_SPEC: Schema<CreateSpec> = {
  name: 'a string',
  inputs: 'an array',
  outputs: 'an array',
  attrs: 'an array',
  nodes: 'an array',
  returns: 'an object',
  controlReturns: 'an object',
};
const DEFINE_SPEC: Schema<DefineSpec> = {
  name: 'a string',
  args: 'an array',
  returns: 'an array',
  attrs: 'an array',
  nodes: 'an array',
};
/** 'anything' is checked when the node's op is known, which improves the message. */
const CREATED_NODE: Schema<CreatedNode> = {
  name: 'anything',
  op: 'anything',
  inputs: 'anything',
  attrs: 'an object',
  controlInputs: 'anything',
  device: 'anything',
};
const DEFINED_NODE: Schema<DefinedNode> = {
  returns: 'anything',
  op: 'anything',
  args: 'anything',
  attrs: 'an object',
  deps: 'anything',
  device: 'anything',
};

/** Texts as a list that ends with NULL. */
function nameList(scope: Scope, what: string, names: readonly string[] = []): Ptr<TextPtr | Null> {
  checkTexts(what, names);
  return scope.pointers<TextPtr | Null>([...names.map((name: string) => scope.string(name)), 0]);
}

function text(scope: Scope, what: string, value: unknown): TextPtr {
  checkText(what, value);
  return scope.string(value);
}

const isPlaceholder = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 1 && value.startsWith('$');

const everyElement = (value: unknown, test: (element: unknown) => boolean): boolean =>
  Array.isArray(value)
    ? value.every((item) => everyElement(item, test))
    : ArrayBuffer.isView(value)
      ? Array.from(value as unknown as ArrayLike<unknown>).every(test)
      : test(value);

/**
 * The dtype that can hold any of the values: it is converted to the actual dtype when the function's attrs
 * are bound.
 */
function widestDType(value: unknown): 'bool' | 'int64' | 'float64' {
  if (everyElement(value, (element) => typeof element === 'boolean')) return 'bool';
  return everyElement(value, (element) => typeof element === 'bigint' || Number.isInteger(element))
    ? 'int64'
    : 'float64';
}

/** A Const may be given by a plain value, and its dtype may be omitted: each determines the other. */
function constAttrs(attrs: FunctionAttrs): FunctionAttrs {
  const { value, dtype } = attrs;
  if (value === undefined || isPlaceholder(value)) return attrs;
  const wanted = isPlaceholder(dtype) ? widestDType(value) : (dtype as DTypeName | undefined);
  const content = value instanceof Tensor ? value : tensor(value as TensorLike, undefined, wanted);
  return { ...attrs, value: content, dtype: dtype ?? content.dtype };
}

/** A TF_WasmAttr[] and its length. As in TensorFlow '$T' is a placeholder, whatever the attr's type. */
function attrList(
  scope: Scope,
  runtime: Runtime,
  op: string,
  attrs: FunctionAttrs = {},
): [count: number, pointer: WasmAttrPtr] {
  const def = runtime.findOpDef(op);
  return scope.attrs(op === 'Const' ? constAttrs(attrs) : attrs, (key, value) =>
    isPlaceholder(value) ? encodeAttr('type', value) : encodeAttrOf(def, key, value),
  );
}

export class FunctionDef {
  readonly #runtime: Runtime;
  readonly #proto: Uint8Array;
  #signed: OpDef | undefined;

  /** Created by tf.FunctionDef and graphs. */
  constructor(runtime: Runtime, proto: Uint8Array) {
    this.#runtime = checkRuntime(runtime, 'FunctionDef', 'tf.FunctionDef.parse(text)');
    this.#proto = proto;
  }

  /** @internal TensorFlow's Create. */
  static createIn(runtime: Runtime, spec: CreateSpec): FunctionDef {
    checkOptions<CreateSpec>('FunctionDef.create', spec, CREATE_SPEC);
    checkList('nodes', spec.nodes);
    for (const node of spec.nodes)
      checkOptions<CreatedNode>('a node of FunctionDef.create', node, CREATED_NODE);
    const nodes = spec.nodes.map(({ name, op, inputs, attrs, controlInputs, device }) => ({
      op,
      attrs,
      device,
      returns: [name],
      args: inputs,
      deps: controlInputs,
    }));
    return FunctionDef.build(
      runtime,
      false,
      { name: spec.name, args: spec.inputs, returns: spec.outputs, attrs: spec.attrs, nodes },
      spec,
    );
  }

  /** @internal TensorFlow's Define. */
  static defineIn(runtime: Runtime, spec: DefineSpec): FunctionDef {
    checkOptions<DefineSpec>('FunctionDef.define', spec, DEFINE_SPEC);
    checkList('nodes', spec.nodes);
    for (const node of spec.nodes)
      checkOptions<DefinedNode>('a node of FunctionDef.define', node, DEFINED_NODE);
    return FunctionDef.build(runtime, true, spec, {});
  }

  /** A TF_WasmFunctionSpec (src/wasm/wasm_functions.h), and the engine's result for it. */
  private static build(
    runtime: Runtime,
    define: boolean,
    spec: DefineSpec,
    results: { returns?: Record<string, string>; controlReturns?: Record<string, string> },
  ): FunctionDef {
    const { wasm } = runtime;
    const pairs = (record: Record<string, string> = {}) => Object.entries(record).flat();
    return wasm.scope((scope) => {
      const nodes = spec.nodes.flatMap((node) => {
        const op = text(scope, 'op', node.op);
        return [
          nameList(scope, `the names of a node of op '${node.op}'`, node.returns),
          op,
          nameList(scope, `the inputs of a node of op '${node.op}'`, node.args),
          ...attrList(scope, runtime, node.op, node.attrs),
          nameList(scope, `the control inputs of a node of op '${node.op}'`, node.deps),
          node.device === undefined ? 0 : text(scope, 'device', node.device),
        ];
      });
      const request: WasmFunctionSpecPtr = scope.words([
        define ? 1 : 0,
        text(scope, 'name', spec.name),
        nameList(scope, 'the arguments', spec.args),
        nameList(scope, 'the results', spec.returns),
        nameList(scope, 'attrs', spec.attrs),
        spec.nodes.length,
        scope.words(nodes),
        nameList(scope, 'returns', pairs(results.returns)),
        nameList(scope, 'controlReturns', pairs(results.controlReturns)),
      ]);
      return new FunctionDef(
        runtime,
        wasm.buffer((buffer, status) => wasm.call.TF_WasmBuildFunction(request, buffer, status)),
      );
    });
  }

  /** @internal From function text. */
  static parseIn(runtime: Runtime, text: string): FunctionDef {
    const { wasm } = runtime;
    checkText('the text of a function', text);
    refuseForeign(text, 'function text');
    const bytes = encodeText(text);
    return new FunctionDef(
      runtime,
      wasm.scope((scope) =>
        wasm.buffer((buffer, status) =>
          wasm.call.TF_WasmFunctionFromText(scope.bytes(bytes), bytes.length, buffer, status),
        ),
      ),
    );
  }

  /** @internal Serialised by the engine. */
  static trustedIn(runtime: Runtime, proto: Uint8Array): FunctionDef {
    return new FunctionDef(runtime, proto);
  }

  /** @internal From a serialised FunctionDef, which is checked. */
  static fromProtoIn(runtime: Runtime, proto: Uint8Array | ArrayBuffer): FunctionDef {
    const { wasm } = runtime;
    const bytes = bytesOf(proto, 'a serialised FunctionDef');
    refuseForeign(bytes, 'serialised FunctionDef', false);
    const handle = wasm.scope((scope) =>
      wasm.checked((status) =>
        wasm.call.TF_FunctionImportFunctionDef(scope.bytes(bytes), bytes.length, status),
      ),
    );
    return FunctionDef.takeHandle(runtime, handle);
  }

  /** @internal From a TF_Function, which is deleted. */
  static takeHandle(runtime: Runtime, handle: FunctionPtr): FunctionDef {
    const { wasm } = runtime;
    try {
      return new FunctionDef(
        runtime,
        wasm.buffer((buffer, status) => wasm.call.TF_FunctionToFunctionDef(handle, buffer, status)),
      );
    } finally {
      wasm.call.TF_DeleteFunction(handle);
    }
  }

  /** @internal Calls `use` with a TF_Function of this definition, which may belong to another engine. */
  withHandle<T>({ wasm }: Runtime, use: (handle: FunctionPtr) => T): T {
    return wasm.scope((scope) => {
      const handle = wasm.checked((status) =>
        wasm.call.TF_FunctionImportFunctionDef(scope.bytes(this.#proto), this.#proto.length, status),
      );
      try {
        return use(handle);
      } finally {
        wasm.call.TF_DeleteFunction(handle);
      }
    });
  }

  get signature(): OpDef {
    if (!this.#signed) {
      for (const field of fieldsOf(this.#proto))
        if (field.number === 1) this.#signed = decodeOpDef(field.bytes);
    }
    return this.#signed!;
  }

  get name(): string {
    return this.signature.name;
  }

  private print(full: boolean): string {
    const { wasm } = this.#runtime;
    return wasm.scope((scope) =>
      wasm.bufferText((buffer, status) =>
        wasm.call.TF_WasmFunctionToText(
          scope.bytes(this.#proto),
          this.#proto.length,
          full ? 1 : 0,
          buffer,
          status,
        ),
      ),
    );
  }

  /** The text as TensorFlow prints it: long strings and tensors are truncated. */
  toString(): string {
    return this.print(false);
  }

  /** The same language without truncation: `FunctionDef.parse(f.toText())` equals f. */
  toText(): string {
    return this.print(true);
  }

  /**
   * The function with bound attrs. It can call the current functions of `library`, or without one only
   * itself. The library may change or be disposed afterwards.
   */
  instantiate(attrs: FunctionAttrs = {}, library?: Graph): FunctionBody {
    if (!isPlainObject(attrs))
      throw new InvalidArgumentError(
        `the attrs of a function are an object, such as { T: 'float32' }, not ${shown(attrs)}`,
      );
    if (library !== undefined && !(library instanceof GraphCore)) {
      throw new InvalidArgumentError(`the library of a function is a Graph, not ${shown(library)}`);
    }
    const { wasm } = this.#runtime;
    if (library && library.runtime !== this.#runtime)
      throw new InvalidArgumentError(
        'the graph belongs to another engine: init() made it with other options',
      );
    wasm.refuseInCallback();
    return wasm.scope((scope) => {
      const [count, list] = scope.attrs(attrs, (key, value) => encodeAttrOf(this.signature, key, value));
      const proto = scope.bytes(this.#proto);
      const pointer = wasm.made((status) =>
        wasm.call.TF_WasmNewFunctionBody(
          proto,
          this.#proto.length,
          list,
          count,
          library?.pointer ?? 0,
          status,
        ),
      );
      return new FunctionBody(this.#runtime, pointer);
    });
  }

  /** Serialised. */
  toProto(): Uint8Array {
    return this.#proto.slice();
  }
}

const argText = ({ name, type, type_attr, type_list_attr, number_attr }: ArgDef): string =>
  `${name}: ${number_attr ? `${number_attr} * ` : ''}${type ?? type_attr ?? type_list_attr}`;

checkReceivers(FunctionDef, 'functionDef');
showAs(FunctionDef, 'FunctionDef', (definition) => {
  const { name, input_arg, output_arg } = definition.signature;
  const nodes = [...fieldsOf(definition.toProto())].filter(({ number }) => number === 3).length;
  return `FunctionDef<${name}(${input_arg.map(argText).join(', ')}) -> (${output_arg.map(argText).join(', ')}), ${counted(nodes, 'node')}>`;
});
