// `npm run demo [-- port]`: builds, and serves the demo pages until it is interrupted.
import { build } from './build.mjs';
import { runMain, say, SetupError } from './process.mjs';
import { serve } from './serve.mjs';
import { setUp } from './setup.mjs';

await runMain(async () => {
  const port = Number(process.argv[2] ?? 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new SetupError(`'${process.argv[2]}' is no port`);
  await build(await setUp());
  const server = await serve({ port }).catch((error) => {
    throw error.code === 'EADDRINUSE'
      ? new SetupError(`port ${port} is taken; another one: npm run demo -- ${port + 1}`)
      : error;
  });
  say(`The demos: ${server.address}/web/demo/\nCtrl-C ends.`);
});
