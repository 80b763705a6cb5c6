# tests/c/<module>/**/*_test.c -> test_<module>, with the harness and the module's library and those below.
# tests/c/c_api/<name>.c without _test -> c_api_<name>: a whole program, linked the way a user of the C API would.

if(EMSCRIPTEN)
  # The tests run in Node. Node 20 has relaxed SIMD behind a flag that later versions no longer know.
  if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
    find_program(TFCORE_NODE node REQUIRED)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${TFCORE_NODE})
  endif()
  if(TFCORE_WASM_VARIANT MATCHES relaxed)
    execute_process(COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} --experimental-wasm-relaxed-simd -e 0
                    RESULT_VARIABLE flag_refused OUTPUT_QUIET ERROR_QUIET)
    if(NOT flag_refused)
      list(APPEND CMAKE_CROSSCOMPILING_EMULATOR --experimental-wasm-relaxed-simd)
    endif()
  endif()
endif()

add_library(tfcore_harness STATIC ${CMAKE_SOURCE_DIR}/tests/c/harness.c ${CMAKE_SOURCE_DIR}/tests/c/shortage.c)
target_compile_options(tfcore_harness PRIVATE ${TFCORE_WARNINGS})
# The tests read their data below the source folder, which the harness enters. No other object depends on where that is.
target_compile_definitions(tfcore_harness PRIVATE TFCORE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_include_directories(tfcore_harness PUBLIC ${CMAKE_SOURCE_DIR}/tests/c)
target_link_libraries(tfcore_harness PUBLIC tfcore_base)

# Reading recorded facts: for the tests of op and of the modules that stand on it.
add_library(tfcore_facts STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/c/json.c ${CMAKE_SOURCE_DIR}/tests/c/shape_facts.c)
target_compile_options(tfcore_facts PRIVATE ${TFCORE_WARNINGS})
target_link_libraries(tfcore_facts PUBLIC tfcore_harness tfcore_op)

# Running single ops and checking gradients: for the tests of ops.
add_library(tfcore_op_runner STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/c/op_runner.c
            ${CMAKE_SOURCE_DIR}/tests/c/gradient_checker.c)
target_compile_options(tfcore_op_runner PRIVATE ${TFCORE_WARNINGS})
target_link_libraries(tfcore_op_runner PUBLIC tfcore_harness tfcore_runtime tfcore_ops)

# tfcore_test(<target> <source>... LIBRARIES <library>...): an executable, registered in ctest under its own name.
function(tfcore_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" LIBRARIES)
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  target_compile_options(${target} PRIVATE ${TFCORE_WARNINGS})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  if(EMSCRIPTEN)
    set_target_properties(${target} PROPERTIES SUFFIX .cjs LINK_DEPENDS "${TFCORE_JS_LIBRARY_FILES}")
    target_link_options(${target} PRIVATE -O1 -sENVIRONMENT=node,worker -sNODERAWFS=1 -sEXIT_RUNTIME=1 -sSTACK_SIZE=1MB
      -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sALLOW_TABLE_GROWTH=1 -sSUPPORT_LONGJMP=${TFCORE_LONGJMP} --profiling-funcs
      ${TFCORE_JS_LIBRARY})
    if(TFCORE_THREADS)
      # A thread that starts while the memory grows may not see its new size: V8 then refuses a memory.copy there. The
      # package starts its threads before it needs more memory. Tests start some at any time, so they have it from the
      # beginning.
      target_link_options(${target} PRIVATE -sPROXY_TO_PTHREAD=1 -sPTHREAD_POOL_SIZE=4 -sINITIAL_MEMORY=1GB -Wno-pthreads-mem-growth
        -Wl,--wrap=pthread_cond_wait)
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/c/proxied_calls.c)
    endif()
  endif()
  # The last name that a program of tests says is that of a test that does not end.
  set(arguments)
  if(tfcore_harness IN_LIST arg_LIBRARIES)
    set(arguments --verbose)
  endif()
  add_test(NAME ${target} COMMAND ${target} ${arguments} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${target} PROPERTIES TIMEOUT 600)
endfunction()

set(modules base simd blas proto tensor checkpoint op device graph function placement gradient optimizer runtime ops c_api)
set(modules_below_op base simd blas proto tensor checkpoint)
set(modules_with_ops placement optimizer runtime ops c_api)
foreach(module IN LISTS modules)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/${module}/*_test.c)
  list(FILTER sources EXCLUDE REGEX "/gradient/run/")
  if(sources)
    set(libraries tfcore_harness tfcore_${module})
    if(NOT module IN_LIST modules_below_op)
      list(APPEND libraries tfcore_facts)
    endif()
    if(module IN_LIST modules_with_ops)
      list(APPEND libraries tfcore_runtime tfcore_ops)
    endif()
    if(module STREQUAL ops OR module STREQUAL runtime)
      list(APPEND libraries tfcore_op_runner)
    endif()
    tfcore_test(test_${module} ${sources} LIBRARIES ${libraries})
  endif()
endforeach()

# Gradients that are computed: test_gradient has a few ops of its own, these tests want all ops and sessions.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/gradient/run/*_test.c)
tfcore_test(test_gradient_run ${sources} LIBRARIES tfcore_harness tfcore_facts tfcore_runtime tfcore_ops tfcore_op_runner)

if(c_api IN_LIST TFCORE_MODULES)
  file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/c_api/*.c)
  list(FILTER programs EXCLUDE REGEX "_test\\.c$")
  # The digits as plain text: the programs use nothing but the C library and ours.
  set(digits ${CMAKE_BINARY_DIR}/digits.csv)
  set(packed_digits ${CMAKE_SOURCE_DIR}/examples/data/digits.csv.gz)
  add_custom_command(OUTPUT ${digits} COMMAND gzip -dc ${packed_digits} > ${digits} DEPENDS ${packed_digits} VERBATIM)
  foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME_WE)
    if(EMSCRIPTEN)
      tfcore_test(c_api_${name} ${program} ${digits} LIBRARIES tfcore_c_api)
    else()
      tfcore_test(c_api_${name} ${program} ${digits} LIBRARIES tfcore_shared m)
    endif()
    target_compile_definitions(c_api_${name} PRIVATE TFCORE_DIGITS_CSV="${digits}" TFCORE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  endforeach()
endif()

# The exports for JavaScript, all but the files, half of which is JavaScript.
if(c_api IN_LIST TFCORE_MODULES)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/wasm/*_test.c ${CMAKE_SOURCE_DIR}/src/wasm/*.c)
  list(FILTER sources EXCLUDE REGEX "wasm_files\\.c$")
  tfcore_test(test_wasm ${sources} LIBRARIES tfcore_harness tfcore_c_api)
endif()

# What TensorFlow answered, through the whole library: test_golden.
if(c_api IN_LIST TFCORE_MODULES)
  set(golden ${TFCORE_GENERATED}/golden.pb-c)
  add_custom_command(
    OUTPUT ${golden}.c ${golden}.h
    COMMAND ${TFCORE_PROTOC_C} -I ${CMAKE_SOURCE_DIR}/proto -I ${CMAKE_SOURCE_DIR}/tests/c/golden --c_out=${TFCORE_GENERATED}
            ${CMAKE_SOURCE_DIR}/tests/c/golden/golden.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/golden/golden.proto
    VERBATIM)
  set_source_files_properties(${golden}.c PROPERTIES COMPILE_OPTIONS -w)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/golden/*.c)
  tfcore_test(test_golden ${sources} ${golden}.c LIBRARIES tfcore_harness tfcore_c_api)
endif()

# The functions of native programs. tests/c/native/<name>_transcript.c -> native_<name>: compares with what TensorFlow said.
if(native IN_LIST TFCORE_MODULES)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/native/*_test.c)
  tfcore_test(test_native ${sources} LIBRARIES tfcore_harness tfcore_native)
  file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/c/native/*_transcript.c)
  foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME_WE)
    tfcore_test(native_${name} ${program} LIBRARIES tfcore_shared)
    target_compile_definitions(native_${name} PRIVATE TFCORE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_include_directories(native_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/c)
  endforeach()
endif()

# The tests that take longest start first, so that no processor is without work at the end.
set(cost 0)
foreach(test test_gradient_run test_c_api test_runtime test_blas test_ops test_golden)
  if(TEST ${test})
    math(EXPR cost "${cost} + 1")
    set_tests_properties(${test} PROPERTIES COST ${cost})
  endif()
endforeach()

if(NOT EMSCRIPTEN)
  find_program(TFCORE_NODE node)
  if(TFCORE_NODE)
    add_test(NAME include_directions COMMAND ${TFCORE_NODE} ${CMAKE_SOURCE_DIR}/tools/check-includes.mjs)
    # Under sanitizers the compiler adds symbols of its own.
    if(TARGET tfcore_shared AND NOT TFCORE_SANITIZE)
      add_test(NAME exported_symbols COMMAND ${TFCORE_NODE} ${CMAKE_SOURCE_DIR}/tools/check-exports.mjs
        $<TARGET_FILE:tfcore_shared> ${CMAKE_SOURCE_DIR}/include/tensorflow/c ${CMAKE_SOURCE_DIR}/include/tensorflow/c/eager ${CMAKE_SOURCE_DIR}/include/tfcore)
      add_test(NAME c_programs COMMAND ${TFCORE_NODE} ${CMAKE_SOURCE_DIR}/tools/check-c-programs.mjs
        ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/tests/c/c_api/user_program.c ${CMAKE_SOURCE_DIR}/tests/c/c_api/string_layout.c)
    endif()
  endif()
endif()
