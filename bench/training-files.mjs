// The ONNX graphs of training steps, which training_files.py makes.
import { existsSync } from 'node:fs';
import { must, say } from '../tools/process.mjs';
import { PYTHON } from '../tests/js/tensorflow-servers.mjs';

/** The paths of the graphs by the names of the steps; undefined if they cannot be made. */
export async function makeTrainingFiles() {
  if (!existsSync(PYTHON)) {
    say(
      'without onnxruntime-web: `python3 tests/oracle/environment.py` installs what makes its training graphs',
    );
    return undefined;
  }
  try {
    const output = await must(PYTHON, ['bench/training_files.py'], { boring: /^(W|I|E)\d{4} |^\{/ });
    return JSON.parse(output.split('\n').findLast((line) => line.startsWith('{')));
  } catch (error) {
    say(`without onnxruntime-web, whose training graphs cannot be made: ${error.message}`);
    return undefined;
  }
}
