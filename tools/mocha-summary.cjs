// A mocha reporter for tools/test.mjs: failures as they come, and a last line "N passed, N failed".
class Summary {
  constructor(runner) {
    let passed = 0;
    let failed = 0;
    runner.on('pass', () => passed++);
    runner.on('fail', (test, error) => {
      failed++;
      console.log(`FAILED ${test.fullTitle()}\n${String(error.stack ?? error).replace(/^/gm, '  ')}`);
    });
    runner.on('pending', (test) => console.log(`skipped: ${test.fullTitle()}`));
    runner.once('end', () => console.log(`${passed} passed, ${failed} failed`));
  }
}

module.exports = Summary;
