// Golden cases (tests/c/golden/golden.proto): graphs with TensorFlow's results, in the files of
// tests/data/golden.
import { fieldsOf, floatOf, textOf, varintsOf } from '../../build/js/protobuf.js';

const ARRAYS = {
  1: ['float32', Float32Array, 5],
  3: ['int32', Int32Array, 7],
  4: ['uint8', Uint8Array, 7],
  9: ['int64', BigInt64Array, 10],
};

/** The fields of a message: number -> all of its occurrences. */
function message(bytes) {
  const fields = new Map();
  for (const field of fieldsOf(bytes)) fields.set(field.number, [...(fields.get(field.number) ?? []), field]);
  return { all: (number) => fields.get(number) ?? [], one: (number) => fields.get(number)?.[0] };
}

/** A TensorProto as { dtype, shape, data }. */
function tensor(bytes) {
  const proto = message(bytes);
  const [dtype, array, values] = ARRAYS[Number(proto.one(1).value)] ?? ['string'];
  const dims = proto.one(2) ? message(proto.one(2).bytes).all(2) : [];
  const shape = dims.map((dim) => Number(message(dim.bytes).one(1)?.value ?? 0));
  if (dtype === 'string') return { dtype, shape, data: proto.all(8).map(textOf) };
  const content = proto.one(4)?.bytes;
  if (content) return { dtype, shape, data: new array(Uint8Array.from(content).buffer) };
  const numbers = proto
    .all(values)
    .flatMap((field) =>
      dtype === 'float32'
        ? Array.from({ length: field.bytes.length / 4 }, (_, i) =>
            floatOf(field.bytes.subarray(4 * i, 4 * i + 4)),
          )
        : [...varintsOf(field)],
    );
  const size = shape.reduce((product, dim) => product * dim, 1);
  const full = Array.from({ length: size }, (_, i) => numbers[Math.min(i, numbers.length - 1)] ?? 0);
  return {
    dtype,
    shape,
    data: array === BigInt64Array ? BigInt64Array.from(full, BigInt) : array.from(full, Number),
  };
}

function value(field) {
  const proto = message(field.bytes);
  const number = (n) => (proto.one(n) ? floatOf(proto.one(n).bytes) : 0);
  return {
    name: textOf(proto.one(1)),
    ...tensor(proto.one(2).bytes),
    relative: number(4),
    ofMagnitude: number(5),
    magnitude: proto.one(6) ? tensor(proto.one(6).bytes).data : [0],
  };
}

/** All cases in the bytes of a file. */
export function goldenCases(bytes) {
  return message(bytes)
    .all(1)
    .map((field) => {
      const proto = message(field.bytes);
      const gradients = proto.one(3) && message(proto.one(3).bytes);
      const training = proto.one(5) && message(proto.one(5).bytes);
      return {
        name: textOf(proto.one(1)),
        graph: proto.one(2).bytes,
        gradients: gradients && { ys: gradients.all(1).map(textOf), xs: gradients.all(3).map(textOf) },
        steps: proto.all(4).map(({ bytes: step }) => {
          const [feeds, fetches, targets] = [1, 2, 3].map((number) => message(step).all(number));
          return { feeds: feeds.map(value), fetches: fetches.map(value), targets: targets.map(textOf) };
        }),
        training: training && {
          loss: textOf(training.one(1)),
          variables: training.all(2).map(textOf),
          optimizer: textOf(training.one(3)),
          scalars: Object.fromEntries(
            training
              .all(4)
              .map(({ bytes: b }) => [textOf(message(b).one(1)), floatOf(message(b).one(2).bytes)]),
          ),
        },
      };
    });
}

/** The largest difference in { got, want } pairs, relative to the largest expected magnitude. */
export function largestDifference(pairs) {
  let [off, largest] = [0, 0];
  for (const { got, want } of pairs) {
    for (let i = 0; i < want.data.length; i++) {
      off = Math.max(off, Math.abs(Number(got.data[i]) - Number(want.data[i])));
      largest = Math.max(largest, Math.abs(Number(want.data[i])));
    }
  }
  return off / (largest || 1);
}

/** The first element outside of its case's tolerance, in words; undefined if there is none. */
export function difference(got, want) {
  if (String(got.shape) !== String(want.shape))
    return `${want.name} has shape [${got.shape}], not [${want.shape}]`;
  for (let i = 0; i < want.data.length; i++) {
    const a = Number(got.data[i]);
    const b = Number(want.data[i]);
    const allowed = Math.max(
      want.relative * Math.abs(b),
      want.ofMagnitude * want.magnitude[want.magnitude.length === 1 ? 0 : i],
    );
    if (!(Math.abs(a - b) <= allowed))
      return `element ${i} of ${want.name} is ${a}, not ${b} (may be off by ${allowed})`;
  }
  return undefined;
}
