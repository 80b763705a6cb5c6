// The page: lists the models, shows the runner's reports on the chosen model, and gives the runner the visitor's
// models and feeds.
import { contentOf } from '../graph-file.mjs';
import { themeButton } from '../theme.mjs';
import { Chart } from './chart.mjs';
import { Runner } from './runner.mjs';

const part = (id) => document.getElementById(id);
const show = (id, text) => (part(id).textContent = text);
const count = (number) => number.toLocaleString('en');
const counted = (number, what) => `${count(number)} ${what}${number === 1 ? '' : 's'}`;
const milliseconds = (time) =>
  `${time < 1 ? time.toFixed(2) : time < 100 ? time.toFixed(1) : Math.round(time)} ms`;
const share = (off) =>
  off === null || off === undefined
    ? '–'
    : off === 0
      ? '0'
      : off
          .toExponential(0)
          .replace('e-', ' · 10⁻')
          .replace(/\d+$/, (digits) => digits.replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]));
const NODES_SHOWN = 3;

const el = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

function problem(id, message) {
  part(id).hidden = !message;
  show(id, message ?? '');
}

const runner = new Runner((message) => {
  for (const [name, value] of Object.entries(message)) handlers[name](value);
});
const chart = new Chart(part('chart'));
let models = []; // { name, trainings, item, checked }
let chosen; // its index
let training = 0; // the index of a training of the chosen model
let turn = 0; // the number of the current training; messages of earlier ones are ignored

// ---- TensorFlow's models ----

function makeItem({ name }, index) {
  const [about, time, off] = [
    el('small', { textContent: ' ' }),
    el('span', { textContent: ' ' }),
    el('small', { textContent: ' ' }),
  ];
  const button = el(
    'button',
    { type: 'button' },
    el('b', { textContent: name }),
    about,
    el('span', { className: 'right' }, time, off),
  );
  button.addEventListener('click', () => {
    choose(index);
    part('name').scrollIntoView({ block: 'nearest' }); // it is further down where the screen is narrow
  });
  part('models').append(el('li', {}, button));
  return { button, about, time, off };
}

function choose(index, which = 0) {
  chosen = index;
  training = which;
  turn++;
  const { name, trainings, checked } = models[index];
  models.forEach(({ item }, i) => item.button.setAttribute('aria-pressed', i === index));
  show('name', name);
  show('time', checked ? milliseconds(checked.time) : '–');
  show('answer', share(checked?.answer));
  show('gradients', share(checked?.gradients));
  show('curve-off', '–');
  show(
    'made-of',
    checked
      ? `${counted(checked.nodes, 'node')}, ${counted(checked.kinds, 'kind')} of op, ${counted(checked.weights, 'weight')}. ` +
          `Fed with ${checked.inputs.map((input) => `${input.name}: ${input.text}`).join('; ')}.`
      : '\u00a0',
  );
  problem('differs', checked?.problem);
  part('optimizers').replaceChildren(
    ...trainings.map((optimizer, i) => {
      const button = el('button', {
        type: 'button',
        textContent: optimizer.replace(/(?<=[a-z])(?=[A-Z])/g, ' '),
      });
      button.setAttribute('aria-pressed', i === which);
      button.addEventListener('click', () => {
        choose(index, i);
        part('optimizers').children[i].focus();
      });
      return button;
    }),
  );
  part('again').disabled = part('again').hidden = trainings.length === 0;
  part('key').className = trainings.length > 0 ? '' : 'dots';
  if (trainings.length > 0) train();
  else showOutputs(checked);
}

function train() {
  show('chart-title', 'Loss');
  show('along', 'step');
  document.body.dataset.state = 'training';
  void runner.train({ model: chosen, training, turn: ++turn });
}

/** A model without a training shows its answer instead. */
function showOutputs(checked) {
  show('chart-title', 'Answer');
  show('along', 'output');
  chart.start(checked?.outputs.want ?? [], { along: 'The answer, output by output', first: 0, line: false });
  if (checked) chart.add(...checked.outputs.got);
  document.body.dataset.state = 'shown';
}

// ---- the visitor's own model ----

const open = (request) => void runner.open(request);

const isGraph = ({ name }) => /\.(pb|pbtxt|prototxt|txt)$/.test(name) && name !== 'saved_model.pb';

async function openFiles(files) {
  const [file, ...others] = files;
  const name = others.length > 0 ? (file.webkitRelativePath || file.name).split('/')[0] : file.name;
  try {
    if (others.length > 0 || !isGraph(file)) open({ name, files: [...files] });
    else open({ name, content: await contentOf(file) });
  } catch (error) {
    problem('own-problem', error.message);
  }
}

function describeMissing({ op, dtype, function: isFunction, nodes }) {
  const what = dtype
    ? `${op} has no kernel for ${dtype}`
    : isFunction
      ? `the function ${op} is not in the file`
      : `there is no op ${op}`;
  const more = nodes.length > NODES_SHOWN ? ` and ${count(nodes.length - NODES_SHOWN)} more` : '';
  return `${what}: needed by ${nodes.slice(0, NODES_SHOWN).join(', ')}${more}`;
}

function showOpened({ name, missing, nodes, kinds, functions, inputs, outputs }) {
  problem('own-problem');
  problem('run-problem');
  part('results').replaceChildren();
  part('own').hidden = false;
  const whole = () =>
    `${counted(nodes, 'node')}, ${counted(kinds, 'kind')} of op${functions ? `, ${counted(functions, 'function')}` : ''}`;
  show(
    'own-facts',
    missing.length > 0
      ? `${name} cannot run here, for this is missing:`
      : `${name}: ${whole()}. Nothing is missing.`,
  );
  part('missing').replaceChildren(
    ...missing.map((entry) => el('li', { textContent: describeMissing(entry) })),
  );
  part('feeds').hidden = missing.length > 0;
  part('inputs').replaceChildren(
    ...inputs.map((input) =>
      el(
        'label',
        {},
        el('span', { className: 'input-name' }, input.name, el('small', { textContent: input.type })),
        el('input', { name: input.name, value: input.text, spellcheck: false, autocomplete: 'off' }),
      ),
    ),
  );
  part('fetches').value = outputs.slice(0, 3).join(', ');
}

function run(event) {
  event.preventDefault();
  const feeds = Object.fromEntries(
    Array.from(part('inputs').querySelectorAll('input'), ({ name, value }) => [name, value]),
  );
  void runner.run({
    feeds,
    fetches: part('fetches')
      .value.split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  });
}

// ---- reports of the runner ----

const handlers = {
  ready({ version, variant, models: listed }) {
    show('engine', `tfcore-wasm ${version}, ${variant}`);
    models = listed.map((model, i) => ({ ...model, item: makeItem(model, i) }));
    part('take').disabled = part('file').disabled = part('folder').disabled = false;
    show('summary', 'Running them');
  },
  checked(checked) {
    const { item } = models[checked.index];
    models[checked.index].checked = checked;
    item.about.textContent = `${counted(checked.nodes, 'node')}, ${checked.inputs.map(({ text }) => text).join(', ')}`;
    item.time.textContent = milliseconds(checked.time);
    item.off.className = checked.problem ? 'differs' : 'agrees';
    item.off.textContent = checked.problem ? 'differs' : 'agrees';
    const done = models.filter((model) => model.checked).length;
    const agreeing = models.filter((model) => model.checked && !model.checked.problem).length;
    show(
      'summary',
      done < models.length
        ? `${done} of ${models.length} run`
        : `${agreeing} of ${done} agree with TensorFlow`,
    );
    if (done === models.length) document.body.dataset.checked = 'all';
    if (checked.index === (chosen ?? 0)) choose(checked.index, training);
  },
  started(message) {
    if (message.turn === turn)
      chart.start(message.want, { along: 'Loss, step by step', first: 1, line: true });
  },
  step(message) {
    if (message.turn !== turn) return;
    chart.add(message.loss);
    show('curve-off', share(chart.off));
    if (message.problem) problem('differs', message.problem);
  },
  finished(message) {
    if (message.turn === turn) document.body.dataset.state = 'trained';
  },
  opened: showOpened,
  ran({ time, results }) {
    problem('run-problem');
    part('results').replaceChildren(
      ...results.flatMap(({ name, type, values }) => [
        el('dt', {}, name, el('small', { textContent: `${type}, ${milliseconds(time)}` })),
        el('dd', { textContent: values || 'no elements' }),
      ]),
    );
  },
  refused({ what, why }) {
    problem(what === 'open' ? 'own-problem' : 'run-problem', why);
    if (what === 'run') part('results').replaceChildren();
  },
  failed(message) {
    problem('problem', message);
    show('summary', '');
    document.body.dataset.state = 'failed';
  },
};

void runner.start();
themeButton(part('theme'));
part('again').addEventListener('click', train);
part('take').addEventListener('click', () => open({ model: chosen }));
for (const id of ['file', 'folder'])
  part(id).addEventListener('change', ({ target }) => target.files[0] && openFiles(target.files));
part('feeds').addEventListener('submit', run);
for (const type of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    document.body.classList.toggle('dropping', type === 'dragover');
    if (type === 'drop' && event.dataTransfer.files[0]) openFiles(event.dataTransfer.files);
  });
}
