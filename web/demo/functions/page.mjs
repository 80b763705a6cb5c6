// The page: reads the typed text, and shows the function, its gradient and its values.
import { samples } from '../../../examples/functions/samples.mjs';
import { callLast, gradientFunction, readFunctions, typeOf } from '../../../examples/functions/workbench.mjs';
import { init } from '../../../npm/dist/index.js';
import { themeButton } from '../theme.mjs';

const part = (id) => document.getElementById(id);
const DTYPES = ['float32', 'float64', 'int32', 'int64', 'complex64'];

const el = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

let tf;
let functions = []; // the last one is shown
let attrs = {};
let values = {}; // texts, by argument
let chosen = 'printed';
let turn = 0; // the number of the latest run; results of earlier runs are not shown

const VIEWS = {
  printed: { title: 'Printed', about: 'As TensorFlow prints it.', text: () => String(functions.at(-1)) },
  body: {
    title: 'Body',
    about: 'Instantiated: with its attrs bound, as TensorFlow prints a body.',
    text: () => withBody((body) => String(body)),
  },
  optimised: {
    title: 'Optimised',
    about: 'The same, with calls inlined, constants folded and what is computed twice merged.',
    text: () => withBody((body) => withDisposed(body.optimize(), String)),
  },
  gradient: {
    title: 'Gradient',
    about:
      'A function too: of the arguments, and of how much each result counts. It is built for the attrs above, and gives the derivatives.',
    text: () =>
      withCall((call) =>
        String(
          gradientFunction(call, functions.at(-1).name) ??
            'No gradient flows: only floating-point values have one.',
        ),
      ),
  },
  second: {
    title: 'Its gradient',
    about: 'The gradient of the gradient.',
    text() {
      const first = withCall((call) => gradientFunction(call, functions.at(-1).name));
      return first
        ? withCall(
            (call) => String(gradientFunction(call, first.name) ?? 'The gradient is the same everywhere.'),
            [...functions, first],
          )
        : 'No gradient flows.';
    },
  },
  calls: {
    title: 'Called',
    about: 'The graph that computes the values above.',
    text: () => withCall(({ graph }) => graph.operations().join('\n')),
  },
};

/** Calls `use` with the function called in a graph of its own. */
function withCall(use, list = functions, shapes = {}) {
  const call = callLast(tf, list, list === functions ? attrs : {}, shapes);
  try {
    return use(call);
  } finally {
    call.graph.dispose();
  }
}

function withDisposed(body, use) {
  try {
    return use(body);
  } finally {
    body.dispose();
  }
}

/** Calls `use` with the function instantiated. */
function withBody(use) {
  return withCall(({ graph }) => withDisposed(functions.at(-1).instantiate(attrs, graph), use));
}

// ---- mistakes ----

/** Shows an error in the text, with the line if its position is known. */
function problem(error) {
  part('problem').hidden = !error;
  document.body.dataset.state = error ? 'failed' : 'shown';
  if (!error) return;
  const place = /^function text (\d+):(\d+): ([^]*)$/.exec(error.message);
  part('message').textContent = place ? `Line ${place[1]}, column ${place[2]}: ${place[3]}` : error.message;
  part('place').hidden = !place;
  if (!place) return;
  const line = part('text').value.split('\n')[place[1] - 1] ?? '';
  part('place').textContent = `${line}\n${' '.repeat(place[2] - 1)}^`;
}

// ---- the function ----

/** Those of the offered types that a type attr allows. */
function typesOf(attr) {
  const allowed = attr.allowed_values?.filter((dtype) => DTYPES.includes(dtype));
  return allowed?.length ? allowed : DTYPES;
}

function read() {
  try {
    functions = readFunctions(tf, part('text').value);
    const { signature } = functions.at(-1);
    const before = attrs;
    attrs = {};
    for (const attr of signature.attr.filter(({ type }) => type === 'type')) {
      const types = typesOf(attr);
      attrs[attr.name] = types.includes(before[attr.name]) ? before[attr.name] : types[0];
    }
    showForm(signature);
    problem();
  } catch (error) {
    problem(error);
    return;
  }
  update();
}

function showForm(signature) {
  part('run-title').textContent = signature.name;
  part('attrs').replaceChildren(
    ...signature.attr
      .filter(({ name }) => name in attrs)
      .map((attr) => {
        const select = el(
          'select',
          {},
          ...typesOf(attr).map((dtype) =>
            el('option', { textContent: dtype, selected: attrs[attr.name] === dtype }),
          ),
        );
        select.addEventListener('change', () => {
          attrs[attr.name] = select.value;
          update();
        });
        return el('label', {}, attr.name, select);
      }),
  );
  part('values').replaceChildren(
    ...signature.input_arg.map(({ name }) => {
      const input = el('input', {
        value: (values[name] ??= '[1, 2, 3]'),
        name,
        spellcheck: false,
        autocomplete: 'off',
      });
      input.addEventListener('input', () => {
        values[name] = input.value;
        run();
      });
      return el('label', {}, name, input);
    }),
  );
}

function update() {
  show();
  run();
}

function show() {
  for (const tab of part('tabs').children) tab.setAttribute('aria-selected', tab.dataset.view === chosen);
  part('about').textContent = VIEWS[chosen].about;
  try {
    part('shown').textContent = VIEWS[chosen].text().trim();
  } catch (error) {
    part('shown').textContent = error.message;
  }
}

// ---- its values ----

const rounded = (value) =>
  Array.isArray(value)
    ? `[${value.map(rounded).join(', ')}]`
    : typeof value === 'object'
      ? `${rounded(value.re)} + ${rounded(value.im)}i`
      : typeof value === 'number'
        ? String(Number(value.toPrecision(7)))
        : String(value);

/** The tensor for the text that was typed for an argument. */
function readValue(argument, text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${argument.name} is a number or nested lists of numbers, such as [[1, 2], [3, 4]]`);
  }
  const dtype = typeOf(argument, attrs);
  const big = (item) => (Array.isArray(item) ? item.map(big) : BigInt(item));
  return tf.tensor(dtype === 'int64' ? big(value) : value, undefined, dtype);
}

async function run() {
  const mine = ++turn;
  let call;
  let session;
  try {
    const { signature } = functions.at(-1);
    const tensors = signature.input_arg.map((argument) => readValue(argument, values[argument.name]));
    call = callLast(
      tf,
      functions,
      attrs,
      Object.fromEntries(tensors.map((tensor, i) => [signature.input_arg[i].name, tensor.shape])),
    );
    const rows = call.outputs.map((output, i) => [signature.output_arg[i].name, output]);
    let why = '';
    try {
      const floats = call.inputs.filter(({ dtype }) => dtype.startsWith('float'));
      const ys = call.outputs.filter(({ dtype }) => dtype.startsWith('float'));
      const slopes = floats.length && ys.length ? call.graph.gradients(ys, floats) : [];
      slopes.forEach((slope, i) => slope && rows.push([`d / d ${floats[i].operation.name}`, slope]));
    } catch (error) {
      why = error.message;
    }
    session = new tf.Session(call.graph);
    const results = await session.run(
      rows.map(([, output]) => output),
      new Map(call.inputs.map((input, i) => [input, tensors[i]])),
    );
    if (mine === turn)
      showResults(
        rows.map(([name], i) => [name, `${rounded(results[i].array())}`]),
        why,
      );
  } catch (error) {
    if (mine === turn) showResults([], error.message);
  } finally {
    await session?.close();
    call?.graph.dispose();
  }
}

function showResults(rows, trouble) {
  part('results').replaceChildren(
    ...rows.flatMap(([name, text]) => [el('dt', { textContent: name }), el('dd', { textContent: text })]),
  );
  part('run-problem').hidden = !trouble;
  part('run-problem').textContent = trouble;
}

// ---- the page ----

function open(sample) {
  for (const button of part('samples').children)
    button.setAttribute('aria-pressed', samples[button.dataset.sample] === sample);
  part('text').value = sample.text;
  values = { ...sample.values };
  part('text').scrollTop = 0;
  read();
}

themeButton(part('theme'));
part('text').addEventListener('input', read);
part('values').addEventListener('submit', (event) => event.preventDefault());
try {
  tf = await init();
  await tf.loadTrainingModule();
  part('engine').textContent = `tfcore-wasm ${tf.version.package}, ${tf.variant}`;
  for (const [key, { title }] of Object.entries(VIEWS)) {
    const tab = el('button', { type: 'button', textContent: title, role: 'tab' });
    tab.dataset.view = key;
    tab.addEventListener('click', () => {
      chosen = key;
      show();
    });
    part('tabs').append(tab);
  }
  for (const [key, sample] of Object.entries(samples)) {
    const button = el('button', { type: 'button', textContent: sample.title });
    button.dataset.sample = key;
    button.addEventListener('click', () => open(sample));
    part('samples').append(button);
  }
  open(samples.polynomial);
} catch (error) {
  problem(error);
}
