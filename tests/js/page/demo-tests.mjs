// The demo pages, used like a visitor does: [name, async (context, address) => ...], where `context` is a new
// browser context of playwright.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const DIGITS = '/web/demo/digits/';
const GRAPHS = '/web/demo/graphs/';
const FUNCTIONS = '/web/demo/functions/';
const MODELS = '/web/demo/models/';
/** Digits drawn by hand, on a pad from 0 to 1: a list of strokes each. */
const DRAWN = {
  0: [
    [
      [0.5, 0.12],
      [0.36, 0.2],
      [0.29, 0.4],
      [0.29, 0.6],
      [0.36, 0.8],
      [0.5, 0.88],
      [0.64, 0.8],
      [0.71, 0.6],
      [0.71, 0.4],
      [0.64, 0.2],
      [0.5, 0.12],
    ],
  ],
  1: [
    [
      [0.4, 0.3],
      [0.52, 0.15],
      [0.52, 0.85],
    ],
  ],
  2: [
    [
      [0.3, 0.3],
      [0.38, 0.17],
      [0.55, 0.14],
      [0.67, 0.25],
      [0.65, 0.42],
      [0.5, 0.6],
      [0.3, 0.84],
      [0.5, 0.84],
      [0.72, 0.84],
    ],
  ],
  3: [
    [
      [0.35, 0.25],
      [0.5, 0.15],
      [0.65, 0.25],
      [0.65, 0.38],
      [0.5, 0.48],
      [0.65, 0.58],
      [0.66, 0.72],
      [0.5, 0.84],
      [0.34, 0.75],
    ],
  ],
  7: [
    [
      [0.3, 0.18],
      [0.7, 0.18],
      [0.58, 0.45],
      [0.45, 0.85],
    ],
    [
      [0.4, 0.5],
      [0.68, 0.5],
    ],
  ],
};

/** Opens a page; `errors` collects all logged errors. */
async function open(context, url) {
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.stack));
  await page.goto(url);
  return { page, errors };
}

const state = (page, wanted) =>
  page.waitForFunction((name) => document.body.dataset.state === name, wanted, { timeout: 60_000 });
const allChecked = (page) =>
  page.waitForFunction(() => document.body.dataset.checked === 'all', undefined, { timeout: 60_000 });
const number = async (page, selector) => Number((await page.textContent(selector)).replace(/[^\d.]/g, ''));

/** Draws with the mouse. */
async function draw(page, strokes) {
  const box = await page.locator('#pad').boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  for (const [first, ...others] of strokes) {
    await page.mouse.move(...at(first));
    await page.mouse.down();
    for (const point of others) await page.mouse.move(...at(point), { steps: 6 });
    await page.mouse.up();
  }
}

const answer = (page, digit) =>
  page.waitForFunction((text) => document.querySelector('#answer').textContent === text, String(digit), {
    timeout: 5000,
  });

/** The colours of a canvas, to see that something was drawn. */
const painted = (page, selector) =>
  page.locator(selector).evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
  });

export const demoTests = [
  [
    'the digits page learns, shows that it does, and logs no error',
    async (context, address) => {
      const { page, errors } = await open(context, address + DIGITS);
      await state(page, 'training');
      await page.waitForFunction(() => /^Epoch [3-9] /.test(document.querySelector('#epoch').textContent));
      const early = { loss: await number(page, '#loss'), curve: await painted(page, '#curve') };
      await state(page, 'trained');
      assert.ok((await number(page, '#accuracy')) >= 97, await page.textContent('#accuracy'));
      assert.ok((await number(page, '#loss')) < early.loss / 2);
      assert.ok((await painted(page, '#curve')) > early.curve);
      assert.ok((await number(page, '#speed')) > 1000);
      assert.ok((await number(page, '#time')) < 20);
      assert.match(await page.textContent('#engine'), /^tfcore-wasm \d+\.\d+\.\d+, (simd|relaxed)$/);
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the digits page reads digits that are drawn with the mouse',
    async (context, address) => {
      const { page, errors } = await open(context, address + DIGITS);
      await state(page, 'trained');
      for (const [digit, strokes] of Object.entries(DRAWN)) {
        await page.click('#clear');
        assert.equal(await page.textContent('#answer'), '?');
        await draw(page, strokes);
        await answer(page, digit).catch(async () =>
          assert.fail(`a drawn ${digit} was read as ${await page.textContent('#answer')}`),
        );
        const shares = await page.locator('.bars .share').allTextContents();
        assert.equal(shares.length, 10);
        const sum = shares.reduce((total, share) => total + Number.parseFloat(share), 0);
        assert.ok(Math.abs(sum - 100) < 0.6, `the probabilities add up to ${sum} %`);
        assert.ok((await painted(page, '#seen')) > 8);
      }
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the digits page works by keyboard, and trains again',
    async (context, address) => {
      const { page, errors } = await open(context, address + DIGITS);
      await state(page, 'trained');
      await page.focus('#pad');
      for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Space');
      for (let i = 0; i < 16; i++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Space');
      await answer(page, 1);
      await page.keyboard.press('Delete');
      assert.equal(await page.textContent('#answer'), '?');
      await page.focus('.bars li:nth-child(5) button');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.querySelector('#answer').textContent !== '?');
      await page.focus('#train');
      await page.keyboard.press('Enter');
      await state(page, 'training');
      await page.keyboard.press('Enter'); // once more, before it is done
      await page.keyboard.press('Enter');
      await state(page, 'trained');
      assert.equal(await page.textContent('#epoch'), 'Epoch 60 of 60');
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the digits page changes its theme, keeps it, and follows the system without a choice',
    async (context, address) => {
      const { page } = await open(context, address + DIGITS);
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await page.emulateMedia({ colorScheme: 'light' });
      const light = await ground();
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await ground();
      assert.notEqual(light, dark);
      await page.click('#theme');
      assert.equal(await ground(), light);
      await page.reload();
      assert.equal(await ground(), light);
      assert.equal(await page.getAttribute('#theme', 'aria-label'), 'Change to the dark theme');
    },
  ],

  [
    'the digits page says so when the wasm or the digits cannot be loaded',
    async (context, address) => {
      for (const [pattern, message] of [
        ['**/*.wasm', /wasm file/],
        ['**/digits.csv.gz', /HTTP 404/],
      ]) {
        await context.route(pattern, (route) => route.fulfill({ status: 404, body: '' }));
        const { page } = await open(context, address + DIGITS);
        await state(page, 'failed');
        assert.match(await page.textContent('#problem'), message);
        assert.ok(await page.isVisible('#problem'));
        await context.unroute(pattern);
      }
    },
  ],

  [
    'the digits page fits a narrow screen',
    async (context, address) => {
      const { page } = await open(context, address + DIGITS);
      await page.setViewportSize({ width: 340, height: 800 });
      const [content, view] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      assert.ok(content <= view, `${content} px in ${view}`);
    },
  ],

  [
    'the graphs page shows a graph: its numbers, its nodes, what they use',
    async (context, address) => {
      const { page, errors } = await open(context, address + GRAPHS);
      await state(page, 'shown');
      await page.click('[data-sample=function]');
      assert.deepEqual([await number(page, '#nodes'), await number(page, '#edges')], [4, 4]);
      assert.equal(await page.textContent('#functions'), 'Functions: Cube');
      assert.deepEqual(await page.locator('#ops button').allTextContents(), [
        'Cube 2',
        'Add 1',
        'Placeholder 1',
      ]);
      assert.deepEqual(
        await page.locator('.row span:nth-child(3)').allTextContents(),
        Array(4).fill('float32 [?, 3]'),
        'calls have the shapes of their body',
      );
      assert.equal(await page.textContent('#node-title'), 'sum');
      await page.click('#details li button >> text=twice:0');
      assert.equal(await page.textContent('#node-title'), 'twice');
      assert.match(
        await page.textContent('#details pre'),
        /^\{\{node twice\}\} = Cube\[T=DT_FLOAT\]\(once\)$/,
      );
      assert.equal(await page.locator('#drawing rect').count(), 4);
      await page.click('#drawing a >> nth=0');
      assert.equal(await page.textContent('#node-title'), 'x');
      await page.focus('#list');
      await page.keyboard.press('End');
      assert.equal(await page.textContent('#node-title'), 'sum');
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the graphs page keeps a long list short, and filters it',
    async (context, address) => {
      const { page, errors } = await open(context, address + GRAPHS);
      await state(page, 'shown');
      await page.click('[data-sample=chain]');
      assert.equal(await number(page, '#nodes'), 100_001);
      assert.ok((await page.locator('.row').count()) < 60, 'only the rows in view are there');
      await page.fill('#filter', 'neg_4999');
      assert.equal(await page.textContent('#shown'), '11 of 100,001 nodes');
      await page.click('#ops button >> text=Placeholder');
      assert.deepEqual(await page.locator('.row span:first-child').allTextContents(), ['x']);
      await page.click('#ops button >> text=Placeholder');
      assert.equal(await page.textContent('#shown'), '100,001 nodes');
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the graphs page reads files back that it saved, and says why it cannot read others',
    async (context, address) => {
      const { page } = await open(context, address + GRAPHS);
      await state(page, 'shown');
      for (const [button, name] of [
        ['#save-binary', 'saved.pb'],
        ['#save-text', 'saved.pbtxt'],
      ]) {
        await page.click('[data-sample=function]');
        const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
        await page.click('[data-sample=digits]');
        const buffer = await readFile(await download.path());
        await page.setInputFiles('#file', { name, mimeType: 'application/octet-stream', buffer });
        await page.waitForFunction(
          (title) => document.querySelector('#whole-title').textContent === title,
          name,
        );
        assert.equal(await number(page, '#nodes'), 4);
      }
      await page.setInputFiles('#file', {
        name: 'bad.pbtxt',
        mimeType: 'text/plain',
        buffer: Buffer.from("node { name: 'a' op: 'Nothing' }"),
      });
      await state(page, 'failed');
      assert.match(await page.textContent('#problem'), /^NOT_FOUND: Op type not registered 'Nothing'/);
      assert.equal(await page.textContent('#whole-title'), 'saved.pbtxt', 'the graph before is still there');
    },
  ],

  [
    'the graphs page answers which shape comes out',
    async (context, address) => {
      const { page, errors } = await open(context, address + GRAPHS);
      await state(page, 'shown');
      assert.equal(await page.textContent('#inferred'), '[d0_0,d1_1]');
      await page.fill('#shapes', '[1,3];[4,2]');
      assert.match(await page.textContent('#inferred'), /Dimensions must be equal, but are 3 and 4/);
      await page.fill('#op', 'Relu');
      await page.fill('#shapes', '[?,7]');
      assert.equal(await page.textContent('#inferred'), 'in0');
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the graphs page fits a narrow screen',
    async (context, address) => {
      const { page } = await open(context, address + GRAPHS);
      await page.setViewportSize({ width: 340, height: 800 });
      await state(page, 'shown');
      const [content, view] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      assert.ok(content <= view, `${content} px in ${view}`);
    },
  ],

  [
    'the functions page computes values and derivatives of what is typed',
    async (context, address) => {
      const { page, errors } = await open(context, address + FUNCTIONS);
      await state(page, 'shown');
      const results = (expected) =>
        page
          .waitForFunction((text) => document.querySelector('#results').textContent === text, expected, {
            timeout: 5000,
          })
          .catch(async () => assert.fail(`${await page.textContent('#results')} instead of ${expected}`));
      await results('y[1, 0, 16]d / d x[-4, 2, 14]'); // 3 x^2 + 2 x and 6 x + 2
      await page.fill('[name=x]', '10');
      await results('y320d / d x62');
      await page.selectOption('#attrs select', 'int32');
      await results('y320');
      await page.fill('[name=x]', '[1,');
      await results('');
      assert.match(await page.textContent('#run-problem'), /^x is a number or nested lists/);
      await page.click('[data-sample=branches]');
      await results('y3d / d x-1');
      await page.click('[data-sample=recursion]');
      await page.waitForFunction(
        () => document.querySelector('#results').textContent.startsWith('y120'),
        undefined,
        { timeout: 5000 },
      );
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the functions page prints functions and their gradients',
    async (context, address) => {
      const { page, errors } = await open(context, address + FUNCTIONS);
      await state(page, 'shown');
      await page.click('[data-sample=calls]');
      assert.match(
        await page.textContent('#shown'),
        /^TimesFour\[T:\{float, double, int32\}\]\(x:T\) -> \(y:T\) \{\n {2}x2 = TimesTwo\[T=\$T\]\(x\)\n/,
      );
      await page.selectOption('#attrs select', 'float64');
      await page.click('[data-view=gradient]');
      assert.match(
        await page.textContent('#shown'),
        /^TimesFourGradient\(x:double, d_y:double\) -> \(d_x:double\) \{\n[^]*\n {2}return d_x = /,
      );
      await page.click('[data-sample=polynomial]');
      await page.click('[data-view=second]');
      assert.match(
        await page.textContent('#shown'),
        /^PolynomialGradientGradient\(x:double, d_y:double, d_d_x:double\) -> \(d_x:double, d_d_y:double\) \{/,
      );
      await page.click('[data-view=calls]');
      assert.match(
        await page.textContent('#shown'),
        /\{\{node Polynomial\}\} = Polynomial\[T=DT_DOUBLE\]\(x\)/,
      );
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the functions page shows where a mistake is, and goes on from what is right',
    async (context, address) => {
      const { page, errors } = await open(context, address + FUNCTIONS);
      await state(page, 'shown');
      const text = await page.inputValue('#text');
      await page.fill(
        '#text',
        `${text}\nF(x:float) -> (y:float) {\n  y = Square[T=float](x\n  return y = y:y:0\n}\n`,
      );
      await state(page, 'failed');
      assert.match(await page.textContent('#message'), /^Line 13, column 3: expected '\)'/);
      assert.equal(await page.textContent('#place'), '  return y = y:y:0\n  ^');
      assert.equal(await page.textContent('#run-title'), 'Polynomial');
      await page.fill('#text', text.replace('Square', 'Squirrel'));
      await page.waitForFunction(
        () => /Squirrel/.test(document.querySelector('#run-problem').textContent),
        undefined,
        { timeout: 5000 },
      );
      await page.fill('#text', text);
      await state(page, 'shown');
      await page.waitForFunction(() => document.querySelector('#run-problem').hidden, undefined, {
        timeout: 5000,
      });
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the functions page fits a narrow screen',
    async (context, address) => {
      const { page } = await open(context, address + FUNCTIONS);
      await page.setViewportSize({ width: 340, height: 800 });
      await state(page, 'shown');
      const [content, view] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      assert.ok(content <= view, `${content} px in ${view}`);
    },
  ],

  [
    'the models page holds eighteen models against TensorFlow, and trains them along its curves',
    async (context, address) => {
      const { page, errors } = await open(context, address + MODELS);
      await allChecked(page);
      assert.equal(await page.textContent('#summary'), '18 of 18 agree with TensorFlow');
      assert.deepEqual(await page.locator('.models .agrees').count(), 18);
      await state(page, 'trained');
      const power = async (selector) => {
        const text = await page.textContent(selector); // '0', or '6 \u00b7 10\u207b\u2078': a digit and a negative power of ten
        return text === '0'
          ? 0
          : Number(text[0]) *
              10 **
                -[...text.slice(text.indexOf('\u207b') + 1)].reduce(
                  (sum, digit) =>
                    10 * sum + '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'.indexOf(digit),
                  0,
                );
      };
      for (const selector of ['#answer', '#gradients', '#curve-off'])
        assert.ok((await power(selector)) < 1e-5, `${selector}: ${await page.textContent(selector)}`);
      assert.equal(
        await page.locator('#chart polyline.theirs').getAttribute('points'),
        await page.locator('#chart polyline.ours').getAttribute('points'),
      );
      await page.click('#optimizers button >> text=Adam');
      await state(page, 'training');
      await state(page, 'trained');
      assert.equal((await page.getAttribute('#chart polyline.ours', 'points')).split(' ').length, 20);
      await page.focus('.models li:nth-child(4) button');
      await page.keyboard.press('Enter');
      assert.equal(await page.textContent('#name'), 'MobileNetV2 0.35, 96x96');
      assert.equal(await page.locator('#chart circle.ours').count(), 10);
      assert.ok(await page.isHidden('#again'));
      assert.match(
        await page.textContent('#made-of'),
        /^727 nodes, 16 kinds of op, 332,122 weights\. Fed with image: uint8 \[1, 96, 96, 3\]\.$/,
      );
      await page.click('.models button >> text=Small GPT');
      await state(page, 'training');
      await state(page, 'trained');
      assert.match(
        await page.textContent('#made-of'),
        / weights\. Fed with prompt: int32 \[.*\]; seed: int32 \[2\]; temperature: float32 \[\]\.$/,
      );
      assert.equal(await page.textContent('#answer'), '0');
      for (const selector of ['#gradients', '#curve-off'])
        assert.ok((await power(selector)) < 1e-4, `${selector}: ${await page.textContent(selector)}`);
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the models page opens, feeds and runs a model, and says what is wrong with others',
    async (context, address) => {
      const { page, errors } = await open(context, address + MODELS);
      await allChecked(page);
      const file = (name, text) =>
        page.setInputFiles('#file', {
          name,
          mimeType: 'application/octet-stream',
          buffer: Buffer.from(text),
        });
      const says = (selector, pattern) =>
        page
          .waitForFunction(
            ([place, source]) => new RegExp(source).test(document.querySelector(place).textContent),
            [selector, pattern.source],
            { timeout: 5000 },
          )
          .catch(async () => assert.fail(`${await page.textContent(selector)} instead of ${pattern}`));
      const node = (name, op, rest = '') => `node { name: '${name}' op: '${op}' ${rest} }`;
      const float = "attr { key: 'T' value { type: DT_FLOAT } }";
      await file(
        'small.pbtxt',
        [
          node(
            'x',
            'Placeholder',
            "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 2 } } } }",
          ),
          node('y', 'Square', `input: 'x' ${float}`),
        ].join('\n'),
      );
      await says('#own-facts', /^small\.pbtxt: 2 nodes, 2 kinds of op\. Nothing is missing\.$/);
      assert.equal(await page.inputValue('#inputs input'), 'random [1, 2]');
      await page.fill('#inputs input', '[[1, 2], [3, 4]]');
      await page.keyboard.press('Enter');
      await says('#results', /^yfloat32 \[2, 2\], .* ms1, 4, 9, 16$/);
      await page.fill('#inputs input', '[[1, 2, 3]]');
      await page.click('#run');
      await says('#run-problem', /^INVALID_ARGUMENT: .*\[\?,2\]|^INVALID_ARGUMENT: .*shape/);
      await page.fill('#inputs input', 'something');
      await page.click('#run');
      await says('#run-problem', /^x: write a value/);
      await page.fill('#fetches', 'nothing');
      await page.fill('#inputs input', 'ones [1, 2]');
      await page.click('#run');
      await says('#run-problem', /^NOT_FOUND: there is no operation 'nothing'/);
      await file('other.pbtxt', [node('a', 'FooBar'), node('b', 'FooBar')].join('\n'));
      await says('#missing', /^there is no op FooBar: needed by a, b$/);
      assert.ok(await page.isHidden('#feeds'));
      await file('bad.pb', 'this is no GraphDef');
      await says('#own-problem', /^bad\.pb cannot be opened: /);
      await file('page.pb', '<!doctype html><title>404</title>');
      await says('#own-problem', /^page\.pb cannot be opened: .*HTML page: there is no such file/);
      await page.click('#take');
      await says('#own-facts', /^LeNet: 31 nodes/);
      await page.click('#run');
      await says('#results', /^lossfloat32 \[\], /);
      assert.ok(await page.isHidden('#own-problem'));
      await page.click('.models button >> text=Review text');
      await page.click('#take');
      await says('#own-facts', /^Review text.* \(SavedModel\): \d+ nodes, .* Nothing is missing\.$/);
      await page.fill('#inputs input', '["a good film"]');
      await page.click('#run');
      await says('#results', /^scorefloat32 \[1, 1\], .* ms0\.\d+$/);
      const folder = fileURLToPath(new URL('../../data/models/saved/module', import.meta.url));
      await page.setInputFiles('#folder', folder);
      await says('#own-facts', /^module \(SavedModel\): \d+ nodes, .* Nothing is missing\.$/);
      assert.equal(await page.inputValue('#inputs input'), 'random [1, 3]');
      await page.fill('#inputs input', '[[1, 2, 3]]');
      await page.fill('#fetches', 'y');
      await page.click('#run');
      await says('#results', /^yfloat32 \[1, 2\], .* ms-?[\d.]+, -?[\d.]+$/);
      await page.setInputFiles(
        '#file',
        fileURLToPath(new URL('../../data/models/keras/branches.keras', import.meta.url)),
      );
      await says('#own-facts', /^branches\.keras \(Keras\): \d+ nodes, .* Nothing is missing\.$/);
      assert.deepEqual(errors, []);
    },
  ],

  [
    'the models page says so when its models cannot be loaded',
    async (context, address) => {
      await context.route('**/models.pb', (route) => route.fulfill({ status: 404, body: '' }));
      const { page } = await open(context, address + MODELS);
      await state(page, 'failed');
      assert.match(await page.textContent('#problem'), /HTTP 404/);
    },
  ],

  [
    'the models page fits a narrow screen, and shows what was chosen',
    async (context, address) => {
      const { page } = await open(context, address + MODELS);
      await page.setViewportSize({ width: 340, height: 800 });
      await allChecked(page);
      await page.click('#take');
      await page.waitForSelector('#inputs input');
      await page.click('.models li:nth-child(2) button');
      assert.ok(
        await page.locator('#name').evaluate((title) => title.getBoundingClientRect().top < innerHeight),
      );
      const [content, view] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      assert.ok(content <= view, `${content} px in ${view}`);
    },
  ],

  [
    'the list of demos leads to each of them',
    async (context, address) => {
      const { page, errors } = await open(context, `${address}/web/demo/`);
      for (const [i, place] of [DIGITS, MODELS, GRAPHS, FUNCTIONS].entries()) {
        await page.click(`li:nth-child(${i + 1}) a.card`);
        await page.waitForURL(`**${place}`);
        await page.goBack();
      }
      assert.deepEqual(errors, []);
    },
  ],
];
