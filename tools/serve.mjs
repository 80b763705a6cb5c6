// A plain static server for the demo pages and the tests in Chromium. Node built-ins only.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { root } from './process.mjs';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv',
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.md': 'text/plain; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.pb': 'application/octet-stream',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** The file for a request's path; undefined if it leads out of the folder, into hidden files, or nowhere. */
async function fileFor(folder, pathname) {
  let decoded;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  const parts = decoded.split('/').filter(Boolean);
  if (decoded.includes('\0') || parts.some((part) => part.startsWith('.') || part.includes('\\')))
    return undefined;
  const place = path.join(folder, ...parts);
  const entry = await stat(place).catch(() => undefined);
  if (entry?.isFile()) return { place, size: entry.size };
  if (!entry?.isDirectory()) return undefined;
  if (!decoded.endsWith('/')) return { moved: `${pathname}/` };
  const index = path.join(place, 'index.html');
  const page = await stat(index).catch(() => undefined);
  return page && { place: index, size: page.size };
}

/**
 * Serves the files of `folder`, below the path `prefix`. With `isolated` pages are cross-origin isolated,
 * which threads need. `headers` are added to every response. `pages` answers selected paths itself: a
 * function (request, response) each. Port 0 uses a free one. Returns { address, close }.
 */
export async function serve({
  folder = root,
  prefix = '',
  port = 0,
  host = '127.0.0.1',
  isolated = true,
  headers = {},
  pages = {},
} = {}) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (isolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    response.setHeader('Cache-Control', 'no-cache');
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (pages[pathname]) return pages[pathname](request, response);
    const isServed = ['GET', 'HEAD'].includes(request.method) && pathname.startsWith(`${prefix}/`);
    const file = isServed ? await fileFor(folder, pathname.slice(prefix.length)) : undefined;
    if (!file) return response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found\n');
    if (file.moved) return response.writeHead(301, { Location: file.moved }).end();
    response.writeHead(200, {
      'Content-Type': TYPES[path.extname(file.place)] ?? 'application/octet-stream',
      'Content-Length': file.size,
    });
    if (request.method === 'HEAD') return response.end();
    createReadStream(file.place)
      .on('error', () => response.destroy())
      .pipe(response);
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    address: `http://${host}:${server.address().port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
