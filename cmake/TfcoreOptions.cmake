# Options and compiler flags, the same for every target (except what protoc-c wrote, see TfcoreModules).

set(TFCORE_SANITIZE OFF CACHE STRING
    "Native: ON for AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer; thread for ThreadSanitizer; or OFF")
set_property(CACHE TFCORE_SANITIZE PROPERTY STRINGS OFF ON thread)
option(TFCORE_COVERAGE "Native, clang: counters of source-based coverage; programs write LLVM_PROFILE_FILE when they end" OFF)
option(TFCORE_TESTS "Build the C tests" ON)
option(TFCORE_FUZZ "Native, clang: the fuzz targets of tests/fuzz/, and everything instrumented for them" OFF)
set(TFCORE_OP_FAMILIES "" CACHE STRING
    "Whose ops go into the op table, separated by semicolons: wings of src/ops/ (math) and files (matmul); empty: all")
set(TFCORE_WASM_VARIANT simd CACHE STRING "WebAssembly: simd, relaxed, simd-threads or relaxed-threads")
set_property(CACHE TFCORE_WASM_VARIANT PROPERTY STRINGS simd relaxed simd-threads relaxed-threads)
set(TFCORE_PROTOBUF_C_SOURCE "" CACHE PATH
    "WebAssembly: the unpacked protobuf-c sources, of the version of the protoc-c in use (tools/setup.mjs fetches them)")

foreach(library LIBJPEG_TURBO LIBPNG ZLIB GIFLIB)
  set(TFCORE_${library}_SOURCE "" CACHE PATH
      "WebAssembly: the unpacked sources of a library of src/ops/codecs/ (tools/setup.mjs fetches them)")
endforeach()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")
set(CMAKE_C_FLAGS_RELEASE "-O3")
# psabi warns of vectors wider than the machine's as arguments; functions that take some are always inlined (simd/wide.h).
# Tables leave out the fields that are zero.
set(TFCORE_WARNINGS -Wall -Wextra -Werror -Wno-psabi -Wno-missing-field-initializers)

# Results must not depend on whether a compiler fuses a multiply with an add.
add_compile_options(-fno-math-errno -ffp-contract=off)
# Messages of tests name files as the repository does, and builds do not depend on where they were made. ccache makes paths
# relative to the build folder.
file(RELATIVE_PATH source_from_binary ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${source_from_binary}=)

if(EMSCRIPTEN)
  # The functions that the engine has in JavaScript, for all programs.
  set(TFCORE_JS_LIBRARY)
  set(TFCORE_JS_LIBRARY_FILES)
  foreach(name emitted_code load_part decimal thread_messages)
    list(APPEND TFCORE_JS_LIBRARY_FILES ${CMAKE_SOURCE_DIR}/src/wasm/${name}.js)
    list(APPEND TFCORE_JS_LIBRARY --js-library=${CMAKE_SOURCE_DIR}/src/wasm/${name}.js)
  endforeach()
  if(NOT TFCORE_WASM_VARIANT MATCHES "^(simd|relaxed)(-threads)?$")
    message(FATAL_ERROR "TFCORE_WASM_VARIANT is '${TFCORE_WASM_VARIANT}'; it can be simd, relaxed, simd-threads or relaxed-threads")
  endif()
  set(TFCORE_THREADS OFF)
  add_compile_options(-msimd128)
  # Static functions get names that no other file has, so that tools/split-wasm.mjs finds them in the linked module.
  add_compile_options(-funique-internal-linkage-names)
  if(TFCORE_WASM_VARIANT MATCHES relaxed)
    add_compile_options(-mrelaxed-simd)
    add_compile_definitions(TFCORE_RELAXED_SIMD=1)
  endif()
  if(TFCORE_WASM_VARIANT MATCHES threads)
    set(TFCORE_THREADS ON)
    add_compile_options(-pthread)
    add_link_options(-pthread)
    add_compile_definitions(TFCORE_THREADS=1)
  endif()
else()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(TFCORE_THREADS ON)
  add_compile_definitions(TFCORE_THREADS=1)
  add_compile_options(-pthread)
  add_link_options(-pthread)
  if(TFCORE_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  if(TFCORE_COVERAGE)
    add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
    add_link_options(-fprofile-instr-generate)
  endif()
  if(TFCORE_SANITIZE STREQUAL thread)
    add_compile_options(-fsanitize=thread)
    add_compile_definitions(TFCORE_SPLIT_ALL_LOOPS=1)
    add_link_options(-fsanitize=thread)
  elseif(TFCORE_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
  endif()
endif()
