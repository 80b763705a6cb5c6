/** Reading models of all formats, and writing graphs. */
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { closest } from '../base/did-you-mean.js';
import { TFError } from '../base/errors.js';
import { filesOfSource } from '../loading/file-sources.js';
import { ModelRequests } from '../loading/model-requests.js';
import type { Model } from '../loading/model.js';
import { ModelParts, contentOfGraphDef } from '../loading/model-parts.js';
import { readModel } from '../loading/recognise.js';
import { GraphDefContent, readGraphDef } from '../models/graph-def-nodes.js';
import { TF, runtimeOf } from '../tf.js';
import { Arguments, CommandError, OptionSpec } from './command-line.js';

export const isText = (file: string): boolean => /\.(pbtxt|prototxt|txt|textproto)$/i.test(file);

/** The option of all commands that open models. */
export const TAGS_OPTION: OptionSpec = {
  value: 'serve,gpu',
  help: 'of a SavedModel with several graphs: the tags of the one to open',
};
const tagsOf = (args: Arguments): readonly string[] | undefined => args.one('tags')?.split(',');

export function readFile(file: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file)); // not a Buffer, whose slice() shares memory
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(code === 'ENOENT' ? missingText(file) : message);
  }
}

export function writeFile(file: string, content: Uint8Array | string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

/** With files of similar names in the folder. */
function missingText(file: string): string {
  const folder = path.dirname(file);
  const names = existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : [];
  const [near] = closest(path.basename(file), names);
  return `there is no file ${file}${near === undefined ? '' : `; did you mean ${path.join(folder, near)}?`}`;
}

/** Errors of a model's content as those of a command. */
async function reported<T>(file: string, work: () => Promise<T>): Promise<T> {
  if (!existsSync(file)) throw new CommandError(missingText(file));
  try {
    return await work();
  } catch (error) {
    if (error instanceof TFError) throw new CommandError(error.message);
    throw error;
  }
}

/** The parts of a model, whose graph has been read. */
export type ReadParts = ModelParts & { readonly graphDef: Uint8Array | string };

/** The parts of the model in a file or folder. */
export const readParts = (tf: TF, file: string, args: Arguments): Promise<ReadParts> =>
  reported(file, async () => {
    const options = { tags: tagsOf(args), runtime: runtimeOf(tf), keras: undefined, hdf5: undefined };
    const parts = await readModel(await filesOfSource(file, new ModelRequests({})), options);
    const graphDef = await contentOfGraphDef(parts.graphDef);
    parts.close?.();
    return { ...parts, graphDef };
  });

/** The nodes of a model, whether or not the engine knows their ops. */
export function readContent(tf: TF, file: string, { graphDef }: ReadParts): GraphDefContent {
  try {
    return readGraphDef(runtimeOf(tf).wasm, graphDef);
  } catch (error) {
    const form = typeof graphDef === 'string' ? ' in text form' : '';
    throw new CommandError(`${file} is no GraphDef${form}: ${(error as Error).message}`);
  }
}

/** Opens the model in a file or folder. */
export const openModel = (tf: TF, file: string, args: Arguments): Promise<Model> =>
  reported(file, async () => {
    const tags = tagsOf(args);
    try {
      return await tf.load(file, tags ? { tags } : {});
    } catch (error) {
      if (!(error instanceof TFError)) throw error;
      throw new CommandError(
        `${file} cannot be opened: ${error.message}\n'tfcore-wasm inspect ${file}' tells what it needs`,
      );
    }
  });
