// How long the frames of the models page are while MobileNet runs in a loop: `node bench/frames.mjs [seconds]`,
// after `npm run build`. One run with the target 'worker', and one in the page's own thread to compare with.
import { openChromium } from '../tools/chromium.mjs';
import { runMain, say, SetupError } from '../tools/process.mjs';
import { serve } from '../tools/serve.mjs';

const MODEL = 'MobileNetV2 0.35, 96x96';

/** In the page: runs the model for a time, and measures the frames with requestAnimationFrame. */
async function measure({ model, target, seconds }) {
  const [{ init }, { goldenCases }, { feedsOf, modelsOf, withModel }] = await Promise.all([
    import('/npm/dist/index.js'),
    import('/examples/models/golden.mjs'),
    import('/examples/models/models.mjs'),
  ]);
  const tf = await init({ threads: 1 });
  const file = await fetch('/tests/data/golden/models.pb');
  const { frozen } = modelsOf(goldenCases(new Uint8Array(await file.arrayBuffer()))).find(
    ({ name }) => name === model,
  );
  const run = async (graph, session) => {
    const feeds = feedsOf(tf, frozen.steps[0]);
    const answer = frozen.steps[0].fetches[0].name;
    await session.run(answer, feeds);
    const frames = [];
    let [last, going] = [performance.now(), true];
    const frame = (now) => {
      frames.push(now - last);
      last = now;
      if (going) requestAnimationFrame(frame);
    };
    requestAnimationFrame((now) => {
      last = now;
      requestAnimationFrame(frame);
    });
    let runs = 0;
    for (const end = performance.now() + 1000 * seconds; performance.now() < end; runs++)
      await session.run(answer, feeds);
    going = false;
    return { frames, runs };
  };
  return withModel(tf, frozen.graph, run, { target });
}

await runMain(async () => {
  const seconds = Number(process.argv[2] ?? 10);
  if (!(seconds > 0)) throw new SetupError(`'${process.argv[2]}' is no number of seconds`);
  const server = await serve();
  const browser = await openChromium();
  try {
    for (const target of ['worker', '']) {
      const page = await browser.newPage();
      await page.goto(`${server.address}/web/demo/models/`);
      await page.waitForFunction(() => document.body.dataset.checked === 'all');
      const { frames, runs } = await page.evaluate(measure, { model: MODEL, target, seconds });
      frames.sort((a, b) => a - b);
      const at = (share) => frames[Math.floor(share * (frames.length - 1))].toFixed(1);
      say(
        `target '${target}': ${frames.length} frames, median ${at(0.5)} ms, 99 % ${at(0.99)} ms, ` +
          `longest ${at(1)} ms; ${runs} runs of ${MODEL}, ${((1000 * seconds) / runs).toFixed(2)} ms each`,
      );
      await page.close();
    }
  } finally {
    await browser.close();
    await server.close();
  }
});
