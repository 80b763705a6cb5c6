/**
 * The glue that Emscripten generates for each .wasm: 'glue:single' for the builds with one thread,
 * 'glue:threads' for the others.
 */
declare module 'glue:*' {
  const create: (options: Record<string, unknown>) => Promise<Record<string, unknown>>;
  export default create;
}

/** A .wasm, compressed with gzip, in base64. */
declare module 'wasm:*' {
  const packed: string;
  export default packed;
}

/** A script of the package, compressed with gzip, in base64. */
declare module 'script:*' {
  const packed: string;
  export default packed;
}
