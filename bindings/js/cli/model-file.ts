/** Reading and writing graphs. */
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { closest } from '../base/did-you-mean.js';
import { GraphDefContent, readGraphDef } from '../models/graph-def-nodes.js';
import { Graph } from '../graph/graph.js';
import { foreignFormat, formatOfName, withoutBom } from '../messages/model-format.js';
import { TF, runtimeOf } from '../tf.js';
import { CommandError } from './command-line.js';

export const isText = (file: string): boolean => /\.(pbtxt|prototxt|txt|textproto)$/i.test(file);

export function readFile(file: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file)); // not a Buffer, whose slice() shares memory
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(
      code === 'ENOENT'
        ? `there is no file ${file}${nearFile(file)}`
        : code === 'EISDIR'
          ? folderText(file)
          : message,
    );
  }
}

export function writeFile(file: string, content: Uint8Array | string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

/** Files with similar names in the folder. */
function nearFile(file: string): string {
  const folder = path.dirname(file);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return '';
  const [near] = closest(path.basename(file), readdirSync(folder));
  return near === undefined ? '' : `; did you mean ${path.join(folder, near)}?`;
}

/** The kind of model in a folder, if it is recognised. */
function folderText(folder: string): string {
  const has = (name: string): boolean => existsSync(path.join(folder, name));
  if (has('saved_model.pb'))
    return `${folder} is a folder: that of ${foreignFormat(Uint8Array.of(8, 1, 18, 0))!.says}`;
  if (has('model.json'))
    return `${folder} is a folder: that of ${foreignFormat('{"modelTopology":{}}')!.says}`;
  if (has('checkpoint'))
    return `${folder} is a folder, of checkpoints: they have the values of variables and no graph`;
  const graph = readdirSync(folder).find((name) => /\.(pb|pbtxt)$/.test(name));
  return `${folder} is a folder${graph === undefined ? '' : `; did you mean ${path.join(folder, graph)}?`}`;
}

/**
 * The GraphDef in a file: binary, or text depending on the file's name. Files of other formats are refused.
 */
export function readModel(file: string): Uint8Array | string {
  const bytes = readFile(file);
  const isBytes = bytes.length === 0 || !isText(file);
  const format = foreignFormat(bytes);
  const isPlainText = format?.kind === 'graph-text';
  const foreign = formatOfName(file) ?? (isPlainText ? undefined : format?.says);
  if (foreign !== undefined) throw new CommandError(`${file} is ${foreign}`);
  return isBytes && !isPlainText ? bytes : withoutBom(new TextDecoder().decode(bytes));
}

const notAGraph = (file: string, error: unknown): CommandError =>
  new CommandError(
    `${file} is no GraphDef${isText(file) ? ' in text form' : ''}: ${(error as Error).message}`,
  );

/** The nodes in a file, whether or not the engine knows their ops. */
export function readContent(tf: TF, file: string, model: Uint8Array | string): GraphDefContent {
  try {
    return readGraphDef(runtimeOf(tf).wasm, model);
  } catch (error) {
    throw notAGraph(file, error);
  }
}

export function importModel(tf: TF, file: string, model: Uint8Array | string): Graph {
  const graph = new tf.Graph();
  try {
    graph.importGraphDef(model);
    return graph;
  } catch (error) {
    graph.dispose();
    throw new CommandError(
      `${file} cannot be imported: ${(error as Error).message}\n'tfcore-wasm inspect ${file}' tells what it needs`,
    );
  }
}
