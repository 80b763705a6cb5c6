// Progress in a terminal: one line that is rewritten; occasional plain lines if the output is not a terminal.

const WIDTH = 24;
const PLAIN_EVERY = 10;

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function bar(share) {
  const eighths = Math.round(share * WIDTH * 8);
  const full = '█'.repeat(Math.floor(eighths / 8));
  return (full + (eighths % 8 ? ' ▏▎▍▌▋▊▉'[eighths % 8] : '')).padEnd(WIDTH, '·');
}

/** Returns { show(state), end() } for `epochs` epochs; a state is the result of Training.runEpoch(). */
export function progressOn(stream, epochs) {
  const { isTTY } = stream;
  return {
    show({ epoch, loss, accuracy, examples, seconds }) {
      const speed = `${Math.round(examples / seconds).toLocaleString('en')} examples/s`;
      const facts = `loss ${loss.toFixed(4)}  accuracy ${percent(accuracy)}  ${speed}`;
      if (isTTY) stream.write(`\r\x1b[K  ${bar(epoch / epochs)}  epoch ${epoch}/${epochs}  ${facts}`);
      else if (epoch === 1 || epoch % PLAIN_EVERY === 0 || epoch === epochs)
        stream.write(`  epoch ${String(epoch).padStart(2)}/${epochs}  ${facts}\n`);
    },
    end() {
      if (isTTY) stream.write('\n');
    },
  };
}
