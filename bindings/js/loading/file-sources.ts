/** What can be opened as ModelFiles: bytes, files of a page, addresses, and in Node paths. */
import { isPlainObject, shown } from '../base/arguments.js';
import { InvalidArgumentError, NotFoundError, UnavailableError } from '../base/errors.js';
import { nodeModule } from '../base/host.js';
import { bytesOf } from '../base/utf8.js';
import { ModelFile, ModelFiles, fileOfBytes, joinPath, nameOf, unreadable } from './model-files.js';
import { ModelRequests, addressOf } from './model-requests.js';

/**
 * A model: its address or (Node) its path, of a file or a folder; bytes; a File or a Blob; several Files, as a
 * page gets them by drag and drop or from an <input>; or bytes and Blobs by their paths.
 */
export type ModelSource =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | Blob
  | Iterable<File>
  | ArrayLike<File>
  | Readonly<Record<string, Uint8Array | ArrayBuffer | Blob | string>>;

const isBlob = (value: unknown): value is Blob =>
  typeof value === 'object' && value !== null && 'stream' in value && 'slice' in value && 'size' in value;

async function* piecesOfStream(
  place: string,
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let part; !(part = await reader.read()).done; ) yield part.value;
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw unreadable(place, error);
  } finally {
    void reader.cancel().catch(() => undefined); // the file may not be read to its end
  }
}

const fileOfBlob = (name: string, blob: Blob): ModelFile => ({
  size: blob.size,
  pieces: () => piecesOfStream(name, blob.stream()),
  part: (begin, end) => piecesOfStream(name, blob.slice(begin, end).stream()),
});

/** Files by path, without the folder that all of them are in. */
function filesOf(place: string, given: readonly (readonly [string, () => ModelFile])[]): ModelFiles {
  const parts = given.map(([path]) => path.split('/').slice(0, -1));
  let shared = parts[0]?.length ?? 0;
  for (const folders of parts)
    while (folders.slice(0, shared).join('/') !== parts[0]!.slice(0, shared).join('/')) shared--;
  const files = new Map(given.map(([path, open]) => [path.split('/').slice(shared).join('/'), open]));
  const paths = [...files.keys()];
  return {
    place,
    main: paths.length === 1 ? paths[0] : undefined,
    paths,
    open: async (path) => files.get(path)?.(),
  };
}

function filesOfRecord(record: Readonly<Record<string, unknown>>): ModelFiles {
  const entries = Object.entries(record);
  if (entries.length === 0) throw new InvalidArgumentError('a model needs at least one file');
  return filesOf(
    entries.length === 1 ? entries[0]![0] : 'the given files',
    entries.map(([path, content]) => {
      if (isBlob(content)) return [path, () => fileOfBlob(path, content)] as const;
      const bytes =
        typeof content === 'string'
          ? new TextEncoder().encode(content)
          : bytesOf(content as Uint8Array, `file ${path} of a model`);
      return [path, () => fileOfBytes(bytes)] as const;
    }),
  );
}

function filesOfList(list: readonly unknown[]): ModelFiles {
  if (list.length === 0) throw new InvalidArgumentError('a model needs at least one file');
  const named = list.map((file, i) => {
    const { name, webkitRelativePath } = file as File;
    if (!isBlob(file) || typeof name !== 'string')
      throw new InvalidArgumentError(`item ${i} of the files of a model must be a File, not ${shown(file)}`);
    return [webkitRelativePath || name, () => fileOfBlob(name, file)] as const;
  });
  return filesOf(named.length === 1 ? named[0]![0] : 'the given files', named);
}

// ---- addresses ----

/** The address of a file beside another one: a folder's query is that of its files. */
function beside(base: URL, path: string): URL {
  const address = new URL(path.split('/').map(encodeURIComponent).join('/'), base);
  address.search = base.search;
  return address;
}

async function fetchFile(address: URL, requests: ModelRequests): Promise<ModelFile | undefined> {
  let response: Response;
  try {
    response = await requests.fetch(address);
  } catch (error) {
    if (requests.isAborted) throw error;
    throw new UnavailableError(`${address.href} could not be fetched: ${(error as Error).message}`);
  }
  if (response.status === 404 || response.status === 410) return undefined;
  if (!response.ok)
    throw new UnavailableError(
      `${address.href} could not be fetched: HTTP ${response.status} ${response.statusText}`,
    );
  /* For a compressed response the header has the compressed length. */
  const length = response.headers.has('content-encoding') ? null : response.headers.get('content-length');
  const { body } = response;
  return {
    size: length === null ? undefined : Number(length),
    pieces: () => (body ? piecesOfStream(address.href, body) : fileOfBytes(new Uint8Array(0)).pieces()),
  };
}

/** Names that are not well-formed stay as they are. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** An address that ends with '/' is a folder. */
function filesOfAddress(address: URL, requests: ModelRequests): ModelFiles {
  const name = decoded(nameOf(address.pathname));
  return {
    place: address.href,
    main: name === '' ? undefined : name,
    paths: undefined,
    isRemote: true,
    open: (path) => fetchFile(path === name ? address : beside(address, path), requests),
  };
}

// ---- paths in Node ----

const PIECE = 1 << 22;

async function* piecesOfPath(path: string, begin: number, end: number): AsyncGenerator<Uint8Array> {
  const opened = await nodeModule('node:fs/promises').open(path);
  try {
    for (let at = begin; at < end; ) {
      const size = Math.min(PIECE, end - at);
      const { bytesRead, buffer } = await opened.read(new Uint8Array(size), 0, size, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    await opened.close();
  }
}

async function fileOfPath(path: string): Promise<ModelFile | undefined> {
  try {
    const { size } = await nodeModule('node:fs/promises').stat(path);
    const part = (begin: number, end: number) => piecesOfPath(path, begin, end);
    return { size, part, pieces: () => part(0, size) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
}

async function filesOfPath(source: string | URL): Promise<ModelFiles> {
  const text = String(source);
  const place = text.startsWith('file:') ? nodeModule('node:url').fileURLToPath(new URL(text)) : text;
  const { readdir, stat } = nodeModule('node:fs/promises');
  const { join, basename, dirname, sep } = nodeModule('node:path');
  const found = await stat(place).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new NotFoundError(`there is no file or folder ${place}`)
      : unreadable(place, error);
  });
  const folder = found.isDirectory() ? place : dirname(place);
  const listed = found.isDirectory()
    ? (await readdir(folder, { recursive: true })).map((name) => name.split(sep).join('/'))
    : undefined;
  return {
    place,
    main: listed ? undefined : basename(place),
    paths: listed,
    open: (path) => fileOfPath(join(folder, joinPath('', path))),
  };
}

/** The files of a source. */
export async function filesOfSource(source: ModelSource, requests: ModelRequests): Promise<ModelFiles> {
  if (typeof source === 'string' || source instanceof URL) {
    const address = addressOf(source);
    return address ? filesOfAddress(address, requests) : filesOfPath(source);
  }
  if (isBlob(source)) {
    const name = (source as File).name ?? 'model';
    return filesOf(name, [[name, () => fileOfBlob(name, source)]]);
  }
  if (isPlainObject(source)) return filesOfRecord(source);
  if (ArrayBuffer.isView(source) || Object.prototype.toString.call(source) === '[object ArrayBuffer]') {
    const bytes = bytesOf(source as Uint8Array, 'a model');
    return filesOf('the given bytes', [['model', () => fileOfBytes(bytes)]]);
  }
  if (typeof source === 'object' && source !== null && ('length' in source || Symbol.iterator in source))
    return filesOfList(Array.from(source as ArrayLike<File>));
  throw new InvalidArgumentError(`load takes an address, a path, bytes, or Files, not ${shown(source)}`);
}
