// The page: shows the reports of the lesson, and gives it the drawings.
import { CLASSES, PIXELS } from '../../../examples/digits/data.mjs';
import { themeButton } from '../theme.mjs';
import { Curve } from './curve.mjs';
import { Lesson } from './lesson.mjs';
import { drawPixels, Pad } from './pad.mjs';
import { pixelsOf } from './strokes.mjs';

const part = (id) => document.getElementById(id);
const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const show = (id, text) => (part(id).textContent = text);

const lesson = new Lesson((message) => {
  for (const [name, value] of Object.entries(message)) handlers[name](value);
});
const curve = new Curve(part('curve'));
const bars = Array.from({ length: CLASSES }, (_, digit) => makeBar(digit));
let seen = new Float32Array(PIXELS);
let drawing = 0; // the number of the drawing on the pad; an answer contains the number of its drawing
let seed = 1;

const pad = new Pad(part('pad'), (strokes) => {
  see(pixelsOf(strokes));
  void lesson.classify(strokes.length > 0 ? seen : null, ++drawing);
  if (strokes.length === 0) forget();
});

function makeBar(digit) {
  const item = document.createElement('li');
  item.innerHTML = `<button type="button" aria-label="Show a ${digit} from the test set">${digit}</button>
    <span class="track"><span class="fill"></span></span><span class="share">–</span>`;
  item.querySelector('button').addEventListener('click', () => {
    pad.clear();
    void lesson.example(digit, ++drawing);
  });
  part('bars').append(item);
  return { item, fill: item.querySelector('.fill'), share: item.querySelector('.share') };
}

function see(pixels) {
  seen = pixels;
  drawPixels(part('seen'), pixels);
}

function showProbabilities(probabilities) {
  const best = probabilities.indexOf(Math.max(...probabilities));
  bars.forEach(({ item, fill, share }, digit) => {
    item.classList.toggle('best', digit === best);
    fill.style.transform = `scaleX(${probabilities[digit]})`;
    share.textContent = percent(probabilities[digit]);
  });
  show('answer', best);
  show('sure', `${percent(probabilities[best], 0)} sure`);
}

function forget() {
  for (const { item, fill, share } of bars) {
    item.classList.remove('best');
    fill.style.transform = '';
    share.textContent = '–';
  }
  show('answer', '?');
  show('sure', 'draw, or pick a digit');
}

function train() {
  document.body.dataset.state = 'training';
  void lesson.train(seed++);
}

const handlers = {
  ready({ version, variant }) {
    show('engine', `tfcore-wasm ${version}, ${variant}`);
    part('train').disabled = false;
    train();
  },
  started: ({ epochs }) => curve.start(epochs),
  epoch({ epoch, epochs, loss, examples, seconds, total, tested }) {
    curve.add(loss);
    show('accuracy', percent(tested));
    show('loss', loss.toFixed(4));
    show('speed', Math.round(examples / seconds).toLocaleString('en'));
    show('time', `${total.toFixed(2)} s`);
    show('epoch', `Epoch ${epoch} of ${epochs}`);
  },
  finished: () => (document.body.dataset.state = 'trained'),
  probabilities(answer) {
    if (answer.drawing === drawing) showProbabilities(answer.values);
  },
  example(chosen) {
    if (chosen.drawing === drawing) see(chosen.pixels);
  },
  failed(message) {
    part('problem').hidden = false;
    show('problem', message);
    show('epoch', '');
    document.body.dataset.state = 'failed';
  },
};

void lesson.start();
part('train').addEventListener('click', train);
part('clear').addEventListener('click', () => pad.clear());
themeButton(part('theme'), () => {
  curve.draw();
  pad.draw();
  see(seen);
});
