// The page: imports a graph, and shows the graph, its nodes, and the results of shape functions.
import { samples } from '../../../examples/graphs/samples.mjs';
import { describeOutput, summarize } from '../../../examples/graphs/summary.mjs';
import { init } from '../../../npm/dist/index.js';
import { inferShapes } from '../../../npm/dist/testing.js';
import { contentOf } from '../graph-file.mjs';
import { themeButton } from '../theme.mjs';
import { drawNeighbours } from './neighbours.mjs';
import { Rows } from './rows.mjs';

const part = (id) => document.getElementById(id);
const show = (id, text) => (part(id).textContent = text);
const count = (number) => Math.round(number).toLocaleString('en');
const MOST_LISTED = 100; // consumers of a node

const el = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

let tf;
let graph;
let title = '';
let nodes = []; // { operation, name, type }
let nodeOf = new Map();

const rows = new Rows({
  list: part('list'),
  height: part('height'),
  rows: part('rows'),
  choose: showNode,
  fill(row, { operation, name, type }) {
    const outputs = operation.outputs.map(describeOutput).join('; ');
    row.append(
      el('span', { textContent: name, title: name }),
      el('span', { textContent: type }),
      el('span', { textContent: outputs, title: outputs }),
    );
  },
});

// ---- opening ----

function problem(error) {
  part('problem').hidden = !error;
  show('problem', error ? `${error.code ? `${error.code}: ` : ''}${error.message}` : '');
  document.body.dataset.state = error ? 'failed' : document.body.dataset.state;
}

/** Imports bytes or text. If that fails, the page keeps the current graph. */
function open(name, source) {
  problem();
  const next = new tf.Graph();
  const started = performance.now();
  try {
    next.importGraphDef(source);
  } catch (error) {
    next.dispose();
    problem(error);
    return;
  }
  const milliseconds = performance.now() - started;
  graph?.dispose();
  graph = next;
  title = name;
  showGraph(milliseconds);
}

async function openFile(file) {
  try {
    open(file.name, await contentOf(file));
  } catch (error) {
    problem(error);
  }
}

function save(content, ending) {
  const link = el('a', {
    href: URL.createObjectURL(new Blob([content])),
    download: `${title.replace(/\.[^.]*$/, '').replace(/\W+/g, '-')}.${ending}`,
  });
  link.click();
  URL.revokeObjectURL(link.href);
}

// ---- the whole graph ----

function showGraph(milliseconds) {
  const summary = summarize(graph);
  nodes = graph.operations().map((operation) => ({ operation, name: operation.name, type: operation.type }));
  nodeOf = new Map(nodes.map((node) => [node.operation, node]));
  show('whole-title', title);
  show('nodes', count(summary.nodes));
  show('edges', count(summary.edges));
  show('time', `${milliseconds < 10 ? milliseconds.toFixed(1) : count(milliseconds)} ms`);
  show('speed', count((1000 * summary.nodes) / milliseconds));
  show('producer', summary.producer);
  show('functions', summary.functions.length > 0 ? `Functions: ${summary.functions.join(', ')}` : '');
  part('ops').replaceChildren(
    ...summary.ops.map(([type, times]) => {
      const button = el('button', { type: 'button' }, `${type} `, el('b', { textContent: count(times) }));
      button.dataset.op = type;
      button.addEventListener('click', () => filter(part('filter').value === type ? '' : type));
      return button;
    }),
  );
  part('whole').hidden = part('parts').hidden = false;
  filter('');
  if (nodes.length > 0) showNode(nodeOf.get(graph.operation(summary.results.at(-1))) ?? nodes[0]);
  document.body.dataset.state = 'shown';
}

/** The exact name of an op finds its nodes. Other text finds the nodes whose name or op contains it. */
function filter(words) {
  part('filter').value = words;
  const wanted = words.trim().toLowerCase();
  const isOp = nodes.some(({ type }) => type === words);
  const found = !wanted
    ? nodes
    : nodes.filter(({ name, type }) =>
        isOp ? type === words : `${name} ${type}`.toLowerCase().includes(wanted),
      );
  for (const button of part('ops').children) button.setAttribute('aria-pressed', button.dataset.op === words);
  rows.show(found);
  show(
    'shown',
    found.length === nodes.length
      ? `${count(nodes.length)} nodes`
      : `${count(found.length)} of ${count(nodes.length)} nodes`,
  );
}

// ---- one node ----

function links(heading, entries) {
  if (entries.length === 0) return [];
  return [
    el('h3', { textContent: heading }),
    el(
      'ul',
      {},
      ...entries.map(({ operation, text, note }) => {
        const button = el('button', { type: 'button', textContent: text });
        button.addEventListener('click', () => showNode(nodeOf.get(operation)));
        return el('li', {}, button, el('span', { textContent: note }));
      }),
    ),
  ];
}

function showNode(node) {
  if (!node) return;
  const { operation } = node;
  rows.select(node);
  show('node-title', node.name);
  show('node-op', operation.device ? `${node.type} on ${operation.device}` : node.type);
  drawNeighbours(part('drawing'), operation, (other) => showNode(nodeOf.get(other)));
  const around = part('around');
  const { left, width } = part('drawing').querySelector('.here').getBoundingClientRect();
  around.scrollLeft += left + width / 2 - around.getBoundingClientRect().left - around.clientWidth / 2;
  const consumers = operation.outputs.flatMap((output) =>
    output.consumers().map((consumer) => ({ ...consumer, output })),
  );
  const outputs = el(
    'ul',
    {},
    ...operation.outputs.map((output) =>
      el('li', {}, output.name, el('span', { textContent: describeOutput(output) })),
    ),
  );
  part('details').replaceChildren(
    ...(operation.outputs.length > 0 ? [el('h3', { textContent: 'Outputs' }), outputs] : []),
    ...links(
      'Inputs',
      operation.inputs.map((input) => ({
        operation: input.operation,
        text: input.name,
        note: describeOutput(input),
      })),
    ),
    ...links(
      'After',
      operation.controlInputs.map((control) => ({ operation: control, text: control.name, note: '' })),
    ),
    ...links(
      `Used by${consumers.length > MOST_LISTED ? ` ${count(consumers.length)}, of which` : ''}`,
      consumers.slice(0, MOST_LISTED).map(({ operation: user, index, output }) => ({
        operation: user,
        text: user.name,
        note: `output ${output.index} is its input ${index}`,
      })),
    ),
    el('h3', { textContent: 'In TensorFlow\u2019s words' }),
    el('pre', { textContent: String(operation) }),
  );
}

// ---- shape functions ----

function ask() {
  const answer = part('inferred');
  try {
    const attrs = part('attrs').value.trim();
    answer.textContent =
      inferShapes(
        tf,
        { op: part('op').value.trim(), attrs: attrs ? JSON.parse(attrs) : {} },
        part('shapes').value.trim(),
      ) || 'no outputs';
    answer.className = '';
  } catch (error) {
    answer.textContent = error.message;
    answer.className = 'bad';
  }
}

// ---- the page ----

themeButton(part('theme'));
part('filter').addEventListener('input', ({ target }) => filter(target.value));
part('file').addEventListener('change', ({ target }) => target.files[0] && openFile(target.files[0]));
part('ask').addEventListener('input', ask);
part('ask').addEventListener('submit', (event) => event.preventDefault());
part('save-binary').addEventListener('click', () => save(graph.toGraphDef(), 'pb'));
part('save-text').addEventListener('click', () => save(graph.toText(), 'pbtxt'));
for (const type of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    document.body.classList.toggle('dropping', type === 'dragover');
    if (type === 'drop' && event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]);
  });
}

try {
  tf = await init();
  await tf.loadSideModule();
  show('engine', `tfcore-wasm ${tf.version.package}, ${tf.variant}`);
  part('op-names').append(...tf.opDefs().map(({ name }) => el('option', { value: name })));
  for (const [key, { title: name, make }] of Object.entries(samples)) {
    const button = el('button', { type: 'button', textContent: name });
    button.dataset.sample = key;
    button.addEventListener('click', () => open(name, make(tf)));
    part('samples').append(button);
  }
  ask();
  open(samples.digits.title, samples.digits.make(tf));
} catch (error) {
  problem(error);
}
