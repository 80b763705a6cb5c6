// Reading a graph that the visitor gives.
const TEXT_FILE = /\.(pbtxt|prototxt|txt|textproto)$/i;
const PROTOBUF_TEXT = /^\s*(#|(node|versions|library)\b)/;

/** What a file holds: protobuf text as a string, whatever the file is called; all else as bytes. */
export async function contentOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder().decode(bytes.subarray(0, 4096));
  const isText =
    bytes.length > 0 && !text.includes('\0') && (TEXT_FILE.test(file.name) || PROTOBUF_TEXT.test(text));
  return isText ? new TextDecoder().decode(bytes) : bytes;
}
