/**
 * The glue that Emscripten writes beside each .wasm: 'glue:single' of the builds with one thread,
 * 'glue:threads' of the others.
 */
declare module 'glue:*' {
  const create: (options: Record<string, unknown>) => Promise<Record<string, unknown>>;
  export default create;
}

/** A .wasm, packed with gzip, in base64. */
declare module 'wasm:*' {
  const packed: string;
  export default packed;
}
