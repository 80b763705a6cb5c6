// Operations on graphs: building node by node, importing, exporting. The peer imports its converter's JSON.
const NODES = 100_000;
const name = (i) => (i === 0 ? 'x' : `node_${i}`);
const op = (i) => (i % 2 ? 'Relu' : 'Neg');

/** A placeholder and a chain of operations, built through the API. */
function buildChain(tf) {
  const graph = new tf.Graph();
  let value = graph.placeholder('float32', [null, 4]);
  for (let i = 1; i <= NODES; i++) value = i % 2 ? graph.relu(value) : graph.neg(value);
  return graph;
}

/** The same in the JSON of the peer's converter. */
function chainAsJson() {
  const float = { type: 'DT_FLOAT' };
  const node = Array.from({ length: NODES + 1 }, (_, i) =>
    i === 0
      ? {
          name: name(0),
          op: 'Placeholder',
          attr: { dtype: float, shape: { shape: { dim: [{ size: '-1' }, { size: '4' }] } } },
        }
      : { name: name(i), op: op(i), input: [name(i - 1)], attr: { T: float } },
  );
  return JSON.stringify({ node, library: {}, versions: { producer: 27 } });
}

/** The same as a GraphDef in text format. */
function chainAsText() {
  const lines = [
    `node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 4 } } } } }`,
  ];
  for (let i = 1; i <= NODES; i++)
    lines.push(
      `node { name: '${name(i)}' op: '${op(i)}' input: '${name(i - 1)}' attr { key: 'T' value { type: DT_FLOAT } } }`,
    );
  return lines.join('\n');
}

const countsOfNodes = (count) => Float32Array.of(count);

function building() {
  return {
    name: 'graph of 100,000 nodes, built',
    group: 'graph',
    nodes: NODES,
    async ours(tf) {
      return {
        run: () => buildChain(tf).dispose(),
        result() {
          const graph = buildChain(tf);
          const count = graph.operations().length;
          graph.dispose();
          return countsOfNodes(count);
        },
        close() {},
      };
    },
  };
}

/** Imports a graph; `makeSource` returns the argument of importGraphDef. */
function importing(title, makeSource) {
  return {
    name: `graph of 100,000 nodes, ${title}`,
    group: 'graph',
    nodes: NODES,
    async ours(tf) {
      const source = makeSource(tf);
      const read = () => {
        const graph = new tf.Graph();
        graph.importGraphDef(source);
        return graph;
      };
      return {
        run: () => read().dispose(),
        result() {
          const graph = read();
          const count = graph.operations().length;
          graph.dispose();
          return countsOfNodes(count);
        },
        close() {},
      };
    },
    async peer(tfjs) {
      const { loadGraphModelSync } = await tfjs.loadConverter();
      const json = chainAsJson();
      const load = () =>
        loadGraphModelSync(
          tfjs.io.fromMemorySync({
            modelTopology: JSON.parse(json),
            weightSpecs: [],
            weightData: new ArrayBuffer(0),
          }),
        );
      return {
        run: () => load().dispose(),
        result: () => countsOfNodes(Object.keys(load().executor.graph.nodes).length),
        close() {},
      };
    },
  };
}

function asBytes(tf) {
  const graph = buildChain(tf);
  const bytes = graph.toGraphDef();
  graph.dispose();
  return bytes;
}

function exporting() {
  return {
    name: 'graph of 100,000 nodes, exported',
    group: 'graph',
    nodes: NODES,
    async ours(tf) {
      const graph = buildChain(tf);
      return {
        run: () => graph.toGraphDef(),
        result: () => countsOfNodes(graph.toGraphDef().length),
        close: () => graph.dispose(),
      };
    },
  };
}

export const graphCases = [
  building(),
  importing('imported', asBytes),
  importing('imported from text', chainAsText),
  exporting(),
];
