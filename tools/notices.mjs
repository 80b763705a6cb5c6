// The notices of the libraries that are compiled into the wasm files, from their own sources: the package has to
// contain them.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Each library of setUp().sources: its name, and its files with the licence. zlib's is the first comment of its header. */
const NOTICES = {
  protobufC: { name: 'protobuf-c', files: ['LICENSE'] },
  libjpegTurbo: { name: 'libjpeg-turbo', files: ['README.ijg', 'LICENSE.md'] },
  libpng: { name: 'libpng', files: ['LICENSE'] },
  zlib: { name: 'zlib', files: ['zlib.h'], firstComment: true },
  giflib: { name: 'giflib', files: ['COPYING'] },
};

const INTRODUCTION = `The WebAssembly files of this package contain code of the following libraries.

This software is based in part on the work of the Independent JPEG Group.
`;

/** The text of the notices; `sources` are the folders of the libraries. */
export function noticesOf(sources) {
  const parts = Object.entries(NOTICES).map(([library, { name, files, firstComment }]) => {
    const texts = files.map((file) => readFileSync(path.join(sources[library], file), 'utf8'));
    const text = firstComment ? texts[0].slice(2, texts[0].indexOf('*/')) : texts.join('\n');
    return `${'='.repeat(78)}\n${name}\n${'='.repeat(78)}\n\n${text.trim()}\n`;
  });
  return [INTRODUCTION, ...parts].join('\n');
}
