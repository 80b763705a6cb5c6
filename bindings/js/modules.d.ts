/** The glue that Emscripten writes beside each .wasm. */
declare module '*.mjs' {
  const create: (options: Record<string, unknown>) => Promise<Record<string, unknown>>;
  export default create;
}
