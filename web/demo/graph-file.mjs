// Reads a graph file of the visitor.
const TEXT_FILE = /\.(pbtxt|prototxt|txt|textproto)$/i;
const PROTOBUF_TEXT = /^\s*(#|(node|versions|library)\b)/;

/** The content of a file: protobuf text as a string, whatever the file's name is; anything else as bytes. */
export async function contentOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder().decode(bytes.subarray(0, 4096));
  const isText =
    bytes.length > 0 && !text.includes('\0') && (TEXT_FILE.test(file.name) || PROTOBUF_TEXT.test(text));
  return isText ? new TextDecoder().decode(bytes) : bytes;
}
