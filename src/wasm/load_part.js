/* Lets the bindings load a part of the engine (bindings/js/engine/engine-part.ts), while the engine waits. */
addToLibrary({
  load_part: (part) => Module['loadPart'](part),
});
