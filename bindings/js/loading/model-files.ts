/** ModelFiles: the files that a model consists of, wherever they are. */
import { NotFoundError, UnavailableError } from '../base/errors.js';

/** One file. Its content is read once. */
export interface ModelFile {
  /** In bytes; undefined while it is not known. */
  readonly size: number | undefined;
  /** The content, in pieces. */
  pieces(): AsyncIterable<Uint8Array>;
  /** The bytes of a part, if the file can be read at any place. */
  readonly part?: (begin: number, end: number) => AsyncIterable<Uint8Array>;
}

/** Paths have '/' between their parts. */
export interface ModelFiles {
  /** What messages call it: a folder, a URL, the name of a file. */
  readonly place: string;
  /** The path of the file that was named itself; undefined for a folder. */
  readonly main: string | undefined;
  /** All paths; undefined where they cannot be listed, as on a server. */
  readonly paths: readonly string[] | undefined;
  /** Whether they come over a network. */
  readonly isRemote?: boolean;
  /** undefined if there is no such file. */
  open(path: string): Promise<ModelFile | undefined>;
}

/** A file whose content is in memory. */
export const fileOfBytes = (bytes: Uint8Array): ModelFile => ({
  size: bytes.length,
  async *pieces() {
    yield bytes;
  },
  async *part(begin, end) {
    yield bytes.subarray(begin, end);
  },
});

/** The whole content. */
export const readAll = (file: ModelFile): Promise<Uint8Array> => joined(file.pieces(), file.size);

/** All pieces as one, which grows while they arrive. `size` is that of all, as far as it is known. */
export async function joined(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  size = 0,
): Promise<Uint8Array> {
  let all = new Uint8Array(0);
  let length = 0;
  for await (const piece of stream) {
    if (length === 0) {
      all = piece as Uint8Array<ArrayBuffer>; // it may be the only one
    } else {
      if (length + piece.length > all.length) {
        const larger = new Uint8Array(Math.max(size, 2 * length, length + piece.length));
        larger.set(all);
        all = larger;
      }
      all.set(piece, length);
    }
    length += piece.length;
  }
  return all.subarray(0, length);
}

/** A file of which a part has been read. */
export interface BegunFile {
  /** The beginning: at least as many bytes as were asked for, if the file has them. */
  readonly head: Uint8Array;
  /** The file, which can still be read from the beginning. */
  readonly file: ModelFile;
  /** Ends the reading of a file that nobody reads on. */
  abandon(): Promise<void>;
}

/** Reads the first `size` bytes of a file. The rest of a server's file stays on its way. */
export async function beginningOf(file: ModelFile, size: number): Promise<BegunFile> {
  if (file.part && file.size !== undefined) {
    const head = await joined(file.part(0, Math.min(file.size, size)));
    return { head, file, abandon: async () => undefined };
  }
  const source = file.pieces()[Symbol.asyncIterator]();
  const abandon = async (): Promise<void> => void (await source.return?.(undefined));
  const pieces: Uint8Array[] = [];
  let [length, ended] = [0, false];
  while (length < size && !ended) {
    const { done, value } = await source.next();
    if (done) ended = true;
    else length += pieces[pieces.push(value) - 1]!.length;
  }
  const head = concatenated(pieces);
  async function* all() {
    try {
      yield head;
      if (!ended) yield* { [Symbol.asyncIterator]: () => source };
    } finally {
      await abandon();
    }
  }
  return { head, file: { size: file.size, pieces: all }, abandon };
}

/** All bytes in one array. */
export function concatenated(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0]!;
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Opens a file that the model needs. */
export async function openFile(files: ModelFiles, path: string): Promise<ModelFile> {
  const file = await files.open(path);
  if (!file) throw new NotFoundError(`${files.place} has no file ${path}, which the model needs`);
  return file;
}

export const readFile = async (files: ModelFiles, path: string): Promise<Uint8Array> =>
  readAll(await openFile(files, path));

/** 'a/b' and '../c' as 'a/c'. Paths that lead outside of the model's files are refused. */
export function joinPath(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of [...folder.split('/'), ...path.split('/')]) {
    if (part === '..') {
      if (parts.length === 0) throw new NotFoundError(`path ${path} leads outside of the model's files`);
      parts.pop();
    } else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
/** Whether a file is in protobuf's text format, by its name. */
export const isTextFile = (path: string): boolean => /\.(pbtxt|prototxt|textproto)$/i.test(path);

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Reports the bytes that were read of all files of a model. */
export class Progress {
  #loaded = 0;
  #total = 0;

  constructor(private readonly report: ((loaded: number, total: number) => void) | undefined) {}

  /** The same files, whose bytes are counted. A file that was opened and not read yet is not opened again. */
  counting(files: ModelFiles, signal: AbortSignal | undefined): ModelFiles {
    const unread = new Map<string, ModelFile>();
    return {
      ...files,
      open: async (path) => {
        signal?.throwIfAborted();
        const file = unread.get(path) ?? (await files.open(path));
        if (!file) return undefined;
        unread.set(path, file);
        const { size, part } = file;
        return {
          size,
          pieces: () => {
            unread.delete(path);
            return this.#count(file.pieces(), size ?? 0, signal);
          },
          ...(part && { part: (begin, end) => this.#count(part(begin, end), end - begin, signal) }),
        };
      },
    };
  }

  async *#count(
    stream: AsyncIterable<Uint8Array>,
    size: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array> {
    this.#total += size;
    for await (const piece of stream) {
      signal?.throwIfAborted();
      this.#loaded += piece.length;
      this.report?.(this.#loaded, Math.max(this.#loaded, this.#total));
      yield piece;
    }
  }
}

/** For failures of the network or the disk. */
export const unreadable = (place: string, error: unknown): UnavailableError =>
  new UnavailableError(`${place} cannot be read: ${(error as Error).message}`);
