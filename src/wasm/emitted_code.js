/* Makes the function of a module that the engine emitted callable on this thread (base/emitted_code.c). Returns its place in the
 * function table: `place`, unless that is 0. Returns 0 if the module cannot be compiled, which the policy of a page may forbid. */
addToLibrary({
  install_module__deps: ['$wasmTable'],
  install_module: (module, size, place) => {
    try {
      const bytes = HEAPU8.slice(module >>> 0, (module >>> 0) + size);
      const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { m: wasmMemory } });
      const index = place || wasmTable.grow(1);
      wasmTable.set(index, instance.exports.run);
      return index;
    } catch (error) {
      return 0;
    }
  },
});
