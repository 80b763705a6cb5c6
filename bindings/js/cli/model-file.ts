/** Reading and writing graphs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { GraphDefContent, readGraphDef } from '../graph-def-nodes.js';
import { Graph } from '../graph.js';
import { fieldsOf } from '../protobuf.js';
import { TF, runtimeOf } from '../tf.js';
import { CommandError } from './command-line.js';

export const isText = (file: string): boolean => /\.(pbtxt|prototxt|txt|textproto)$/i.test(file);

export function readFile(file: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file)); // no Buffer, whose slice() shares memory
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(code === 'ENOENT' ? `there is no file ${file}` : code === 'EISDIR' ? `${file} is a folder` : message);
  }
}

export function writeFile(file: string, content: Uint8Array | string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

/** The GraphDef in a file: bytes, or text where the file's name says so. */
export function readModel(file: string): Uint8Array | string {
  const bytes = readFile(file);
  if (isText(file)) return new TextDecoder().decode(bytes);
  try {
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1 && field.wire === 0) throw new CommandError(`${file} is a SavedModel, not a frozen graph: freeze it first`);
      break;
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw notAGraph(file, error);
  }
  return bytes;
}

const notAGraph = (file: string, error: unknown): CommandError =>
  new CommandError(`${file} is no GraphDef${isText(file) ? ' in text form' : ''}: ${(error as Error).message}`);

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
    throw new CommandError(`${file} cannot be imported: ${(error as Error).message}\n'tfcore-wasm inspect ${file}' tells what it needs`);
  }
}
