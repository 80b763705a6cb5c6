# What is shipped: the native libraries, and the wasm module with its JavaScript glue.

set(objects "")
foreach(module IN LISTS TFCORE_MODULES)
  list(APPEND objects $<TARGET_OBJECTS:tfcore_${module}>)
endforeach()

if(NOT EMSCRIPTEN)
  if(native IN_LIST TFCORE_MODULES)
    foreach(kind shared static)
      string(TOUPPER ${kind} library_kind)
      add_library(tfcore_${kind} ${library_kind} ${objects})
      set_target_properties(tfcore_${kind} PROPERTIES LINKER_LANGUAGE C)
      target_include_directories(tfcore_${kind} INTERFACE ${CMAKE_SOURCE_DIR}/include)
      target_link_libraries(tfcore_${kind} PRIVATE ${TFCORE_PROTOBUF_C} ${TFCORE_CODEC_LIBRARIES} m)
    endforeach()
    # One library under the name that programs written for TensorFlow's C library are linked with, and look for when they
    # start: libtensorflow.so.2, with the link libtensorflow.so. libtfcore.so is another link to it.
    set_target_properties(tfcore_static PROPERTIES OUTPUT_NAME tfcore)
    set_target_properties(tfcore_shared PROPERTIES OUTPUT_NAME tensorflow VERSION 2 SOVERSION 2)
    set(tfcore_link $<TARGET_FILE_DIR:tfcore_shared>/libtfcore.so)
    add_custom_command(TARGET tfcore_shared POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE_NAME:tfcore_shared> ${tfcore_link} VERBATIM)
    include(GNUInstallDirs)
    install(TARGETS tfcore_shared tfcore_static)
    install(FILES ${tfcore_link} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    # The file finds its prefix by its own place, so that what is installed can be moved.
    file(STRINGS ${CMAKE_SOURCE_DIR}/src/graph/graph.h version REGEX "^#define TENSORFLOW_VERSION")
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" TENSORFLOW_VERSION "${version}")
    file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
    configure_file(${CMAKE_SOURCE_DIR}/cmake/tensorflow.pc.in ${CMAKE_BINARY_DIR}/tensorflow.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/tensorflow.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tensorflow ${CMAKE_SOURCE_DIR}/include/tfcore DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
elseif(c_api IN_LIST TFCORE_MODULES)
  set(runtime_methods HEAP8,HEAPU8,HEAP16,HEAPU16,HEAP32,HEAPU32,HEAPF32,HEAPF64,HEAP64,HEAPU64,wasmMemory)
  string(APPEND runtime_methods ,stackSave,stackRestore,stackAlloc,addFunction,removeFunction)
  if(TFCORE_THREADS)
    string(APPEND runtime_methods ,PThread)
  endif()
  # Exported are those functions marked TF_CAPI_EXPORT that the bindings name, malloc and free.
  set(exports ${CMAKE_CURRENT_BINARY_DIR}/exports.txt)
  file(GLOB_RECURSE bindings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/js/*.ts)
  list(FILTER bindings EXCLUDE REGEX "/bindings/js/generated/")
  find_program(TFCORE_NODE node REQUIRED)
  add_custom_command(
    OUTPUT ${exports}
    COMMAND ${TFCORE_NODE} ${CMAKE_SOURCE_DIR}/tools/generate-abi.mjs --exports ${exports}
    DEPENDS ${bindings} ${CMAKE_SOURCE_DIR}/tools/generate-abi.mjs
    COMMENT "exports.txt"
    VERBATIM)
  # The glue is plain JavaScript that names no file and no module of Node: the bindings load the wasm and start the workers, on
  # every host (bindings/js/engine/load.ts).
  set(flags
    -sMODULARIZE=1 -sEXPORT_ES6=1 -sEXPORT_NAME=createTfcore -sENVIRONMENT=web,worker -sUSE_ES6_IMPORT_META=0
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=16MB -sMEMORY_GROWTH_GEOMETRIC_CAP=33554432
    -sSTACK_SIZE=1MB
    -sDYNAMIC_EXECUTION=0 -sFILESYSTEM=0 -sSUPPORT_LONGJMP=${TFCORE_LONGJMP} -sDISABLE_EXCEPTION_CATCHING=1
    -sINVOKE_RUN=0 -sEXIT_RUNTIME=0 -sASSERTIONS=0
    -sEXPORTED_FUNCTIONS=@${exports}
    -sEXPORTED_RUNTIME_METHODS=${runtime_methods}
    -sINCOMING_MODULE_JS_API=wasmBinary,instantiateWasm,print,printErr,onAbort,wasmMemory
    -sALLOW_TABLE_GROWTH=1 -sWASM_BIGINT=1 --no-entry)
  # Large functions are not inlined into their only caller: an engine optimizes a function as a whole, and meanwhile runs its first,
  # slow code (SIMD_NOINLINE in src/simd/simd.h). tools/split-wasm.mjs uses the same limit.
  set(passes --one-caller-inline-max-function-size=60)
  if(TFCORE_THREADS)
    # createTfcore({ workers }) takes workers that run already; pthread_create fails when all of them are in use.
    list(APPEND flags "-sPTHREAD_POOL_SIZE=Module['workers'].length" -sPTHREAD_POOL_SIZE_STRICT=2 -Wno-pthreads-mem-growth
      --js-library=${CMAKE_SOURCE_DIR}/src/wasm/given_workers.js)
  endif()
  add_executable(tfcore ${objects} ${exports})
  set_target_properties(tfcore PROPERTIES OUTPUT_NAME tfcore-${TFCORE_WASM_VARIANT} SUFFIX .mjs LINKER_LANGUAGE C)
  # The names of functions, and the map of the data, tell tools/split-wasm.mjs what belongs to other modules; it removes the
  # names. Equal functions are merged after the split, within each module. String literals stay in order, unmerged
  # (-O0 of the linker): tools/pack-data.mjs finds equal ones.
  if(NOT TFCORE_THREADS)
    list(APPEND flags --profiling-funcs -Wl,--no-demangle,-Map=${CMAKE_CURRENT_BINARY_DIR}/tfcore-${TFCORE_WASM_VARIANT}.map,-O0)
    list(APPEND passes --skip-pass=duplicate-function-elimination)
  endif()
  list(JOIN passes "," passes)
  list(APPEND flags -sBINARYEN_EXTRA_PASSES=${passes})
  target_link_libraries(tfcore PRIVATE ${TFCORE_CODEC_LIBRARIES})
  target_link_options(tfcore PRIVATE -O3 ${flags} ${TFCORE_JS_LIBRARY})
  set_target_properties(tfcore PROPERTIES LINK_DEPENDS
    "${CMAKE_SOURCE_DIR}/src/wasm/given_workers.js;${TFCORE_JS_LIBRARY_FILES};${exports}")
endif()

# Benchmarks of the numeric cores: bench/c/<name>.c -> bench_<name>, built on request.
file(GLOB benchmarks CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/c/*.c)
foreach(source IN LISTS benchmarks)
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
  target_compile_options(bench_${name} PRIVATE ${TFCORE_WARNINGS})
  target_link_libraries(bench_${name} PRIVATE tfcore_runtime tfcore_ops)
  if(EMSCRIPTEN)
    set_target_properties(bench_${name} PROPERTIES SUFFIX .mjs)
    target_link_options(bench_${name} PRIVATE -O3 -sENVIRONMENT=web,worker,node -sALLOW_MEMORY_GROWTH=1
      -sMAXIMUM_MEMORY=4GB -sALLOW_TABLE_GROWTH=1 -sSTACK_SIZE=1MB -sSUPPORT_LONGJMP=${TFCORE_LONGJMP} -sEXPORT_ES6=1 -sMODULARIZE=0 --profiling-funcs
      ${TFCORE_JS_LIBRARY})
  endif()
endforeach()
