// Files given by mistake: their names in messages, and the advice.
import assert from 'node:assert/strict';
import { engine, withGraph } from './engine.mjs';

const bytes = (...parts) =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'string' ? Array.from(part, (letter) => letter.charCodeAt(0)) : part,
    ),
  );
/** A field of a protobuf message that holds bytes. */
const field = (number, ...content) => {
  const inner = bytes(...content);
  return [number * 8 + 2, inner.length, ...inner];
};
const zip = (...names) =>
  bytes(
    ...names.flatMap((name) => ['PK\x03\x04', new Array(22).fill(0), name.length, 0, 0, 0, name, 'content']),
    'PK\x05\x06',
    new Array(18).fill(0),
  );

const FILES = {
  'a SavedModel': [
    bytes(8, 1, field(2, field(1, field(1, 'v')), field(2, field(1, field(1, 'x'))))),
    /SavedModel.*tf\.load opens it/,
  ],
  'an ONNX model': [
    bytes(8, 9, field(2, 'pytorch'), field(3, '2.1'), field(7, field(2, 'graph')), field(8, [16, 17])),
    /ONNX model.*convert it to TensorFlow/,
  ],
  'an ONNX model without a producer': [
    bytes(8, 3, field(7, field(2, 'graph')), field(8, [16, 9])),
    /ONNX model/,
  ],
  'the fingerprint of a SavedModel': [bytes(8, 200, 1, 16, 7, 24, 9, 32, 1, 40, 3), /fingerprint/],
  'a TensorFlow Lite model': [
    bytes(0x1c, 0, 0, 0, 'TFL3', new Array(20).fill(1)),
    /TensorFlow Lite.*take the model that it was converted from/,
  ],
  'an HDF5 file': [bytes([0x89], 'HDF\r\n\x1a\n', new Array(20).fill(0)), /HDF5 file.*tf\.load opens it/],
  'a Keras model': [zip('metadata.json', 'config.json', 'model.weights.h5'), /Keras model \(\.keras\)/],
  'a zip archive': [zip('graph.pb'), /zip archive: tf\.load opens it/],
  'a SavedModel in a zip archive': [
    zip('model/saved_model.pb'),
    /zip archive of a SavedModel: tf\.load opens it/,
  ],
  'an archive of arrays': [zip('a.npy'), /NumPy's arrays \(\.npz\)/],
  'a PyTorch file': [zip('archive/data.pkl', 'archive/version'), /PyTorch file.*convert/],
  'an old PyTorch file': [bytes([0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9]), /PyTorch file/],
  'a pickle': [bytes([0x80, 4, 0x95], 'abc'), /pickle/],
  gzip: [bytes([0x1f, 0x8b, 8, 0, 0]), /gzip: unpack it/],
  'a tar archive': [bytes(new Array(257).fill(97), 'ustar'), /tar archive/],
  'an array of NumPy': [bytes([0x93], 'NUMPY', [1, 0]), /array of NumPy's/],
  weights: [bytes([40, 0, 0, 0, 0, 0, 0, 0], '{"a":{}}'), /safetensors/],
  'an image': [bytes([0x89], 'PNG\r\n\x1a\n'), /image \(PNG\)/],
  WebAssembly: [bytes([0], 'asm', [1, 0, 0, 0]), /WebAssembly.*init\(\{ wasm \}\)/],
  'an HTML page': [
    bytes('<!DOCTYPE html>\n<html></html>'),
    /HTML page: there is no such file at the address/,
  ],
  'an HTML page behind blanks': [bytes('\n\n  <html lang="en">'), /HTML page/],
  XML: [bytes('<?xml version="1.0"?>'), /XML/],
  "TensorFlow.js's model.json": [
    bytes('{"format": "graph-model", "modelTopology": {}}'),
    /TensorFlow\.js \(model\.json\)/,
  ],
  'a Keras configuration': [
    bytes('{"class_name": "Sequential", "config": {}}'),
    /configuration of a Keras model/,
  ],
  JSON: [bytes('{"a": 1}'), /is JSON/],
  'a pointer of Git LFS': [
    bytes('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n'),
    /Git LFS.*git lfs pull/,
  ],
  'an empty file': [bytes(), /empty: it has 0 bytes/],
  'protobuf text': [
    bytes('node { name: "x" op: "NoOp" }'),
    /protobuf text, given as bytes: give it as a string/,
  ],
  'protobuf text with the mark of UTF-8': [
    bytes([0xef, 0xbb, 0xbf], '# a graph\nnode { name: "x" op: "NoOp" }'),
    /protobuf text, given as bytes/,
  ],
  'text in UTF-16': [bytes([0xff, 0xfe], 'n\0o\0d\0e\0'), /UTF-16: save it as UTF-8/],
  'the index of a checkpoint': [
    bytes(new Array(40).fill(0), [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb]),
    /checkpoint \(\.index\).*tf\.files/,
  ],
  'the list of checkpoints': [
    bytes('model_checkpoint_path: "model.ckpt-5"\n'),
    /list that stands beside checkpoints/,
  ],
  'a MetaGraphDef': [
    bytes(
      field(1, field(2, field(1, field(1, 'Add'))), field(5, '2.21.0')),
      field(2, field(1, field(1, 'x'), field(2, 'NoOp'))),
    ),
    /MetaGraphDef \(\.meta\)/,
  ],
  'a MetaGraphDef without ops': [bytes(field(1, field(5, '1.15.0')), field(2)), /MetaGraphDef/],
};

describe('files that are given by mistake', () => {
  let tf;
  before(async () => (tf = await engine()));

  for (const [what, [content, message]] of Object.entries(FILES)) {
    it(`${what}: the message says so, wherever it is given`, () =>
      withGraph(tf, async (g) => {
        for (const given of [content, content.slice().buffer]) {
          assert.throws(() => g.importGraphDef(given), { name: 'InvalidArgumentError', message });
          assert.throws(() => tf.checkCompatibility(given), { name: 'InvalidArgumentError', message });
        }
        assert.equal(g.operations().length, 0);
        if (/MetaGraph|protobuf text/.test(what)) return;
        assert.throws(() => tf.FunctionDef.fromProto(content), { name: 'InvalidArgumentError', message });
        const text = String.fromCharCode(...content);
        if (/HTML|XML|json|JSON|Keras conf|Git|list/.test(what)) {
          assert.throws(() => g.importGraphDef(text), { name: 'InvalidArgumentError', message });
          assert.throws(() => tf.FunctionDef.parse(text), { name: 'InvalidArgumentError', message });
        }
      }));
  }

  it('a GraphDef is none of them, whatever the lengths in its first bytes are', () => {
    for (let length = 1; length < 130; length++) {
      const name = 'n'.repeat(length);
      for (let device = 0; device < 130 - length; device += 7) {
        const node = [field(1, name), field(2, 'NoOp'), device > 0 ? field(4, 'd'.repeat(device)) : []];
        const g = new tf.Graph();
        if (length + device < 110) g.importGraphDef(bytes(field(1, ...node)));
        g.dispose();
      }
    }
  });

  it('the name of a file in place of its content: the message says how files are read', () =>
    withGraph(tf, async (g) => {
      for (const name of [
        'model.pb',
        './models/graph.pbtxt',
        'https://example.org/a/model.pb',
        'C:\\models\\m.pb',
        'model.json',
      ]) {
        assert.throws(
          () => g.importGraphDef(name),
          { name: 'InvalidArgumentError', message: /the name of a file and not its content[^]*readFileSync/ },
          name,
        );
      }
    }));

  it('what holds bytes in another way: the message says how they are taken out', () =>
    withGraph(tf, async (g) => {
      const cases = [
        [Promise.resolve(bytes()), /promise: write `await`/],
        [new Blob([]), /write `await value\.arrayBuffer\(\)`/],
        [[8, 1], /Uint8Array\.from/],
        [new DataView(new ArrayBuffer(2)), /new Uint8Array\(value\.buffer/],
        [undefined, /not as undefined/],
        [{}, /not as an object/],
      ];
      for (const [value, message] of cases)
        assert.throws(() => g.importGraphDef(value), { name: 'InvalidArgumentError', message });
    }));

  it('nothing that is known: the message says what is wanted', () =>
    withGraph(tf, async (g) => {
      for (const noise of [bytes([0xff, 0xff, 1, 2]), bytes([10, 200]), 'node {', 'hello world']) {
        assert.throws(() => g.importGraphDef(noise), {
          name: 'InvalidArgumentError',
          message: /\nA GraphDef is a frozen graph: a \.pb file/,
        });
      }
    }));

  it('graphs are none of them, whatever their nodes are called, and whatever is around their text', () =>
    withGraph(tf, async (g) => {
      for (const name of ['TFL3', 'node', 'version', 'saved_model.pb', 'a.npy', 'PK', 'x'.repeat(300)]) {
        const one = new tf.Graph();
        one.op('NoOp', [], { name });
        const again = new tf.Graph();
        again.importGraphDef(one.toGraphDef());
        again.importGraphDef(`\ufeff# a comment\n${one.toText()}`, { prefix: 'text' });
        again.importGraphDef(
          new Uint8Array(new SharedArrayBuffer(one.toGraphDef().length))
            .fill(0)
            .map((_, i) => one.toGraphDef()[i]),
          { prefix: 'shared' },
        );
        assert.deepEqual(
          again.operations().map((operation) => operation.name),
          [name, `text/${name}`, `shared/${name}`],
        );
        one.dispose();
        again.dispose();
      }
      for (const empty of ['', ' \n', '# nothing\n']) g.importGraphDef(empty);
    }));
});
