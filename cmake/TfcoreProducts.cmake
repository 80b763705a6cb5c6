# What is shipped: the native libraries, and the wasm module with its JavaScript glue.

set(objects "")
foreach(module IN LISTS TFCORE_MODULES)
  list(APPEND objects $<TARGET_OBJECTS:tfcore_${module}>)
endforeach()

if(NOT EMSCRIPTEN)
  if(c_api IN_LIST TFCORE_MODULES)
    foreach(kind shared static)
      string(TOUPPER ${kind} library_kind)
      add_library(tfcore_${kind} ${library_kind} ${objects})
      set_target_properties(tfcore_${kind} PROPERTIES OUTPUT_NAME tfcore LINKER_LANGUAGE C)
      target_include_directories(tfcore_${kind} INTERFACE ${CMAKE_SOURCE_DIR}/include)
      target_link_libraries(tfcore_${kind} PRIVATE ${TFCORE_PROTOBUF_C} m)
    endforeach()
    # The names under which programs written for TensorFlow's C library look for it: when they are linked, and when
    # they were linked elsewhere and start.
    set(tensorflow_names libtensorflow.so libtensorflow.so.2)
    foreach(name IN LISTS tensorflow_names)
      add_custom_command(TARGET tfcore_shared POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE_NAME:tfcore_shared> $<TARGET_FILE_DIR:tfcore_shared>/${name} VERBATIM)
    endforeach()
    include(GNUInstallDirs)
    install(TARGETS tfcore_shared tfcore_static)
    list(TRANSFORM tensorflow_names PREPEND $<TARGET_FILE_DIR:tfcore_shared>/ OUTPUT_VARIABLE tensorflow_links)
    install(FILES ${tensorflow_links} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tensorflow ${CMAKE_SOURCE_DIR}/include/tfcore DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
elseif(c_api IN_LIST TFCORE_MODULES)
  set(runtime_methods HEAP8,HEAPU8,HEAP16,HEAPU16,HEAP32,HEAPU32,HEAPF32,HEAPF64,HEAP64,HEAPU64,wasmMemory)
  string(APPEND runtime_methods ,stackSave,stackRestore,stackAlloc,addFunction,removeFunction)
  if(TFCORE_THREADS)
    string(APPEND runtime_methods ,PThread)
  endif()
  # Exported are the functions marked TF_CAPI_EXPORT (EMSCRIPTEN_KEEPALIVE), malloc and free.
  set(flags
    -sMODULARIZE=1 -sEXPORT_ES6=1 -sEXPORT_NAME=createTfcore -sENVIRONMENT=web,worker,node
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=16MB -sMEMORY_GROWTH_GEOMETRIC_CAP=33554432
    -sSTACK_SIZE=1MB
    -sDYNAMIC_EXECUTION=0 -sFILESYSTEM=0 -sSUPPORT_LONGJMP=0 -sDISABLE_EXCEPTION_CATCHING=1
    -sINVOKE_RUN=0 -sEXIT_RUNTIME=0 -sASSERTIONS=0
    -sEXPORTED_FUNCTIONS=_malloc,_free
    -sEXPORTED_RUNTIME_METHODS=${runtime_methods}
    -sINCOMING_MODULE_JS_API=locateFile,wasmBinary,instantiateWasm,print,printErr,onAbort,wasmMemory,pthreadPoolSize,mainScriptUrlOrBlob
    -sALLOW_TABLE_GROWTH=1 -sWASM_BIGINT=1 --no-entry)
  if(TFCORE_THREADS)
    # createTfcore({ pthreadPoolSize }) starts that many workers before the module is ready.
    list(APPEND flags "-sPTHREAD_POOL_SIZE=Module['pthreadPoolSize']||0" -sPTHREAD_POOL_SIZE_STRICT=0 -Wno-pthreads-mem-growth)
  endif()
  add_executable(tfcore ${objects})
  # The glue names its .wasm and, with threads, itself: so it is built under the name that it ships with.
  set_target_properties(tfcore PROPERTIES OUTPUT_NAME tfcore-${TFCORE_WASM_VARIANT} SUFFIX .mjs LINKER_LANGUAGE C)
  target_link_options(tfcore PRIVATE -O3 ${flags})
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
      -sMAXIMUM_MEMORY=4GB -sEXPORT_ES6=1 -sMODULARIZE=0)
  endif()
endforeach()
