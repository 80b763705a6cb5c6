/** Recognises other file formats given in place of a GraphDef, and advises what to do with them. */
import { InvalidArgumentError } from '../base/errors.js';
import { Field, fieldsOf } from './protobuf.js';

/** Formats that tf.load opens. */
export type ModelKind = 'saved-model' | 'meta-graph' | 'tfjs' | 'keras-zip' | 'hdf5' | 'zip' | 'graph-text';

/** A format that is not a GraphDef: `says` tells what it is, and what to do with it. */
export interface ForeignFormat {
  readonly kind?: ModelKind;
  readonly says: string;
}

const LOAD = 'tf.load opens it';
const FREEZE =
  'freeze it into a GraphDef (.pb) with TensorFlow first: convert_variables_to_constants_v2(concrete_function).graph.as_graph_def()';
const UNPACK = 'unpack it, and give the GraphDef (.pb) that is inside';

const startsWith = (bytes: Uint8Array, ...head: number[]): boolean =>
  head.every((byte, i) => bytes[i] === byte);
const codes = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0));

/** Bytes as text, one character each. */
const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
/** The positions of file names in a zip archive: next to the first files, and in the table at its end. */
const namesIn = (bytes: Uint8Array): string =>
  latin(bytes.subarray(0, 8192)) + latin(bytes.subarray(Math.max(0, bytes.length - 32768)));

const PYTORCH =
  'a PyTorch file (.pt, .pth): it has no TensorFlow graph; convert the model to TensorFlow, then freeze it into a GraphDef (.pb)';

function zipFormat(bytes: Uint8Array): ForeignFormat {
  const names = namesIn(bytes);
  if (/model\.weights\.h5|metadata\.json[^]*config\.json/.test(names))
    return { kind: 'keras-zip', says: `a Keras model (.keras): ${LOAD}` };
  if (/data\.pkl|\/version\x00*PK|constants\.pkl/.test(names)) return { says: PYTORCH };
  if (/\.npy/.test(names)) return { says: "an archive of NumPy's arrays (.npz): it has values and no graph" };
  const what = names.includes('saved_model.pb') ? 'a zip archive of a SavedModel' : 'a zip archive';
  return { kind: 'zip', says: `${what}: ${LOAD}` };
}

/** Formats with a signature at the beginning. */
const SIGNATURES: readonly {
  readonly head: readonly number[];
  readonly at?: number;
  readonly says: string | ((bytes: Uint8Array) => ForeignFormat);
  readonly kind?: ModelKind;
}[] = [
  {
    head: [0x1f, 0x8b],
    says: `compressed with gzip: ${UNPACK} (a server that sends it compressed has to say so: Content-Encoding: gzip)`,
  },
  { head: [0x50, 0x4b, 3, 4], says: zipFormat },
  { head: [0x50, 0x4b, 5, 6], kind: 'zip', says: 'an empty zip archive' },
  {
    head: [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a],
    kind: 'hdf5',
    says: `an HDF5 file (.h5), as Keras saves models and weights: ${LOAD}`,
  },
  {
    head: [0, 0, ...codes('TFL3')],
    at: 2,
    says: 'a TensorFlow Lite model (.tflite): it cannot be turned back into a GraphDef; take the model that it was converted from, and freeze that',
  },
  { head: [0x93, ...codes('NUMPY')], says: "an array of NumPy's (.npy): it has values and no graph" },
  {
    head: [0, ...codes('asm')],
    says: "WebAssembly: the engine's own file goes to init({ wasm }), a model to importGraphDef",
  },
  { head: codes('GGUF'), says: 'a GGUF file of weights: it has no TensorFlow graph' },
  { head: codes('BZh'), says: `compressed with bzip2: ${UNPACK}` },
  { head: [0xfd, ...codes('7zXZ')], says: `compressed with xz: ${UNPACK}` },
  { head: codes('ustar'), at: 257, says: `a tar archive: ${UNPACK}` },
  { head: codes('%PDF'), says: 'a PDF document' },
  { head: [0x89, ...codes('PNG')], says: 'an image (PNG): decode it and feed its pixels' },
  { head: [0xff, 0xd8, 0xff], says: 'an image (JPEG): decode it and feed its pixels' },
  { head: [...codes('{"')], at: 8, says: 'a file of weights (.safetensors): it has no graph' },
];

/** The last bytes of the tables of checkpoints. */
const TABLE_END = [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb];
const CHECKPOINT =
  'it has the values of variables and no graph; put it into tf.files and run RestoreV2, or the restore operation of its graph';

function jsonFormat(text: string): ForeignFormat {
  if (
    /"(modelTopology|weightsManifest|userDefinedMetadata)"|"format"\s*:\s*"(graph|layers)-model"/.test(text)
  ) {
    return {
      kind: 'tfjs',
      says: `a model of TensorFlow.js (model.json), whose weights are in other files: ${LOAD}`,
    };
  }
  if (/"class_name"\s*:/.test(text))
    return {
      says: `the configuration of a Keras model, without its weights: load the whole model with Keras, then ${FREEZE}`,
    };
  return { says: 'JSON: what is wanted is a GraphDef, as bytes (.pb) or as protobuf text (.pbtxt)' };
}

/** The format of a text that is not protobuf text. */
function textFormat(text: string): ForeignFormat | undefined {
  const begin = text.slice(0, 4096).trimStart();
  if (begin.startsWith('version https://git-lfs'))
    return {
      says: 'a pointer of Git LFS in place of the file: fetch the file itself with `git lfs pull`',
    };
  if (/^<(!doctype html|html|head|body)/i.test(begin)) {
    return {
      says: 'an HTML page: there is no such file at the address that was fetched, and the server answers with a page; look at response.ok and at the address',
    };
  }
  if (begin.startsWith('<')) return { says: 'XML or HTML: it is no GraphDef' };
  if (/^\{\s*("|\})|^\[\s*[[{"]/.test(begin)) return jsonFormat(text.slice(0, 65536));
  if (/^model_checkpoint_path\s*:/.test(begin))
    return {
      says: "the list that stands beside checkpoints ('checkpoint'): it names files and has no graph",
    };
  return undefined;
}

/**
 * Whether it is no text: a GraphDef may begin with a line feed and '<', which are the tag and the length of its
 * first node, but the tag of the node's op follows.
 */
const hasControlCharacters = (bytes: Uint8Array): boolean =>
  bytes.some((byte) => byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d));

const isProtobufText = (text: string): boolean =>
  /^\s*(#[^\n]*\n\s*)*(node|versions|version|library|signature|node_def)\s*[:{<]/.test(text);

/** The top-level fields of a message, up to the first damage. */
function topFields(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  try {
    for (const field of fieldsOf(bytes)) fields.push(field);
  } catch {
    /* The fields before the damage are enough. */
  }
  return fields;
}

/**
 * Messages that begin with a number: a SavedModel has a version and MetaGraphDefs, an ONNX model a version, a
 * graph and op sets.
 */
function versionedFormat(bytes: Uint8Array): ForeignFormat | undefined {
  const fields = topFields(bytes);
  const has = (number: number, wire: number) =>
    fields.some((field) => field.number === number && field.wire === wire);
  if (!has(1, 0)) return undefined;
  if (has(7, 2) || has(8, 2))
    return { says: 'an ONNX model (.onnx): convert it to TensorFlow, then freeze it into a GraphDef (.pb)' };
  if (fields.every(({ wire }) => wire === 0))
    return { says: 'the fingerprint (fingerprint.pb) beside a SavedModel: it has no graph' };
  if (fields.some(({ number, wire }) => number > 2 || (number === 2 && wire !== 2))) return undefined;
  return {
    kind: 'saved-model',
    says: `a SavedModel, not a frozen graph, and its variables are in other files: ${LOAD}`,
  };
}

/**
 * A MetaGraphDef (.meta) begins with a message like a GraphDef; but that has a list of ops or a version where
 * a NodeDef has its op.
 */
function isMetaGraph(bytes: Uint8Array): boolean {
  let first: Field | undefined;
  try {
    [first] = fieldsOf(bytes);
  } catch {
    return false;
  }
  if (first?.number !== 1 || first.wire !== 2) return false;
  const info = topFields(first.bytes);
  const op = info.find(({ number }) => number === 2);
  if (op) return op.wire === 2 && op.bytes[0] === 0x0a; // the tag of an OpList's first op, where a name has a
  // letter
  return info.some(
    ({ number, wire, bytes: text }) =>
      (number === 7 && wire === 0) ||
      (number === 5 && wire === 2 && /^\d+\.\d+/.test(latin(text.subarray(0, 20)))),
  );
}

function bytesFormat(bytes: Uint8Array, asGraph: boolean): ForeignFormat | undefined {
  if (bytes.length === 0) return { says: 'empty: it has 0 bytes; look at how it was saved or fetched' };
  for (const { head, at = 0, says, kind } of SIGNATURES)
    if (startsWith(bytes.subarray(at), ...head))
      return typeof says === 'function' ? says(bytes) : { says, ...(kind && { kind }) };
  const first = bytes[0]!;
  if (first === 0x80 && bytes[1]! >= 2 && bytes[1]! <= 5 && startsWith(bytes.subarray(2), 0x8a, 0x0a)) {
    return { says: PYTORCH };
  }
  if (first === 0x80 && bytes[1]! >= 2 && bytes[1]! <= 5)
    return { says: "a pickle of Python's objects: it has no TensorFlow graph" };
  if (startsWith(bytes.subarray(-TABLE_END.length), ...TABLE_END))
    return { says: `a part of a checkpoint (.index): ${CHECKPOINT}` };
  if (startsWith(bytes, 0xff, 0xfe) || startsWith(bytes, 0xfe, 0xff))
    return { says: 'text in UTF-16: save it as UTF-8' };
  if (first === 0x08) return versionedFormat(bytes);
  if (asGraph && first === 0x0a && isMetaGraph(bytes)) {
    return {
      kind: 'meta-graph',
      says: `a MetaGraphDef (.meta), which stands beside a checkpoint: ${LOAD}`,
    };
  }
  return undefined;
}

const BOM = '\ufeff';
export const withoutBom = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text);

/** The format of `file` by its name; undefined if it may be a GraphDef. */
export function formatOfName(file: string): string | undefined {
  if (/\.data-\d{5}-of-\d{5}$/.test(file)) return `a part of a checkpoint (.data): ${CHECKPOINT}`;
  if (/\.index$/.test(file)) return `a part of a checkpoint (.index): ${CHECKPOINT}`;
  return undefined;
}

/**
 * What given bytes or text are, and what to do with them, if they are not a GraphDef: 'a SavedModel …: load
 * it …'. undefined if they may be a GraphDef, which only parsing can tell. Without `asGraph` another
 * TensorFlow message is expected.
 */
export function foreignFormat(content: Uint8Array | string, asGraph = true): ForeignFormat | undefined {
  if (typeof content === 'string') {
    const text = withoutBom(content);
    if (/^[^\s{}<>]+\.(pb|pbtxt|prototxt|json|h5|keras|tflite|onnx)$/i.test(text)) {
      return {
        says: 'the name of a file and not its content: give it to tf.load, or give the bytes, `await (await fetch(address)).arrayBuffer()` in a page, readFileSync(path) in Node',
      };
    }
    return textFormat(text);
  }
  const known = bytesFormat(content, asGraph);
  if (known !== undefined) return known;
  if (hasControlCharacters(content.subarray(0, 4096))) return undefined;
  const text = withoutBom(new TextDecoder('utf-8', { ignoreBOM: true }).decode(content.slice(0, 65536)));
  if (isProtobufText(text))
    return {
      kind: 'graph-text',
      says: 'protobuf text, given as bytes: give it as a string, new TextDecoder().decode(bytes) or await response.text()',
    };
  return textFormat(text);
}

/** Throws if the content is known not to be `wanted`. */
export function refuseForeign(content: Uint8Array | string, wanted: string, asGraph = true): void {
  const format = foreignFormat(content, asGraph);
  if (format !== undefined) throw new InvalidArgumentError(`this is no ${wanted}: it is ${format.says}`);
}

/** The line for content that is neither a GraphDef nor a known format. */
export const WANTED_HINT =
  'A GraphDef is a frozen graph: a .pb file, or its protobuf text. Parts of checkpoints (.data-00000-of-00001), weights (.bin) and other models are none.';
