/** Decides which format a model's files have, and reads it. */
import { InvalidArgumentError, NotFoundError } from '../base/errors.js';
import { decodeText } from '../base/utf8.js';
import { WANTED_HINT, foreignFormat, formatOfName } from '../messages/model-format.js';
import type { FormatOptions, ModelParts } from './model-parts.js';
import {
  ModelFile,
  ModelFiles,
  beginningOf,
  folderOf,
  isTextFile,
  joinPath,
  nameOf,
  openFile,
  readFile,
} from './model-files.js';
import { readMetaGraph, readSavedModel } from './saved-model.js';
import { readTfjsModel } from './tfjs-graph-model.js';
import { filesOfZip } from './zip-files.js';

const shortest = (paths: readonly string[]): string | undefined =>
  [...paths].sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))[0];

/** The path of the newest checkpoint in a folder, by the list that stands beside checkpoints. */
async function newestCheckpoint(files: ModelFiles, path: string): Promise<string> {
  const list = decodeText(await readFile(files, path));
  const [, name] = /^\s*model_checkpoint_path\s*:\s*"([^"]*)"/m.exec(list) ?? [];
  if (!name) throw new InvalidArgumentError(`${files.place}: ${path} names no checkpoint`);
  return joinPath(folderOf(path), `${nameOf(name)}.meta`); // the list may have the path on the machine that trained
}

/** The file with which a folder's model begins. */
async function mainFile(files: ModelFiles): Promise<string> {
  if (!files.paths) {
    /* A server does not list its files. */
    for (const path of ['saved_model.pb', 'saved_model.pbtxt', 'model.json', 'checkpoint'])
      if (await files.open(path)) return path === 'checkpoint' ? newestCheckpoint(files, path) : path;
    throw new NotFoundError(`${files.place} has neither saved_model.pb nor model.json`);
  }
  const named = (pattern: RegExp): string | undefined =>
    shortest(files.paths!.filter((path) => pattern.test(nameOf(path))));
  const keras = named(/^model\.weights\.h5$/) === undefined ? undefined : named(/^config\.json$/);
  const found =
    named(/^saved_model\.pb$/) ?? named(/^saved_model\.pbtxt$/) ?? named(/^model\.json$/) ?? keras;
  if (found !== undefined) return found;
  const list = named(/^checkpoint$/);
  if (list !== undefined) return newestCheckpoint(files, list);
  const other =
    named(/\.meta$/) ??
    named(/\.(pb|pbtxt)$/) ??
    named(/\.(keras|h5|hdf5)$/) ??
    named(/\.json$/) ??
    named(/\.zip$/);
  if (other !== undefined) return other;
  const all = files.paths.slice(0, 4).join(', ') + (files.paths.length > 4 ? ', …' : '');
  throw new NotFoundError(`${files.place} has no model: its files are ${all || 'none'}`);
}

/** Names of files in zip archives are looked for in so many bytes. */
const HEAD = 65536;

export async function readModel(files: ModelFiles, options: FormatOptions): Promise<ModelParts> {
  const path = files.main ?? (await mainFile(files));
  const byName = formatOfName(path);
  if (byName !== undefined) throw new InvalidArgumentError(`${files.place} is ${byName}`);
  const name = nameOf(path);
  if (/^saved_model\.(pb|pbtxt)$/.test(name)) return readSavedModel(files, path, options);
  if (name === 'config.json')
    return (await import('./keras-files.js')).readKerasArchive(files, path, options);
  if (/\.meta$/.test(name)) return readMetaGraph(files, path, options);
  const { head, file, abandon } = await beginningOf(await openFile(files, path), HEAD);
  try {
    return await readByContent(holding(files, path, file), path, head, options);
  } catch (error) {
    await abandon();
    throw error;
  }
}

/** The files, one of which is open. */
const holding = (files: ModelFiles, path: string, file: ModelFile): ModelFiles => ({
  ...files,
  open: async (wanted) => (wanted === path ? file : files.open(wanted)),
});

/** `head` is the beginning of the file. */
async function readByContent(
  files: ModelFiles,
  path: string,
  head: Uint8Array,
  options: FormatOptions,
): Promise<ModelParts> {
  const format = foreignFormat(head);
  switch (format?.kind) {
    case 'saved-model':
      return readSavedModel(files, path, options);
    case 'meta-graph':
      return readMetaGraph(files, path, options);
    case 'tfjs':
      return readTfjsModel(files, path, options);
    case 'zip':
    case 'keras-zip':
      return readArchive(await filesOfZip(files.place, await openFile(files, path)), options);
    case 'hdf5':
      return (await import('./keras-files.js')).readKerasHdf5(files, path, options);
    case 'graph-text':
      return graphText(files, path);
    default:
      if (format) throw new InvalidArgumentError(`${files.place} is ${format.says}`).hint(WANTED_HINT);
      return isTextFile(path)
        ? graphText(files, path)
        : { format: 'GraphDef', graphDef: await openFile(files, path), signatures: new Map() };
  }
}

async function readArchive(files: ModelFiles, options: FormatOptions): Promise<ModelParts> {
  return { files, ...(await readModel(files, options)) };
}

const graphText = async (files: ModelFiles, path: string): Promise<ModelParts> => ({
  format: 'GraphDef',
  graphDef: decodeText(await readFile(files, path)),
  signatures: new Map(),
});
