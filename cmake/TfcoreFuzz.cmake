# tests/fuzz/<name>_fuzz.c -> fuzz_<name>, a libFuzzer program (TFCORE_FUZZ, built on request by tools/fuzz.mjs); and all of
# them in test_fuzz, which replays the kept inputs with any compiler.

file(GLOB fuzz_support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.c)
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.c)
set(fuzz_entry ${CMAKE_SOURCE_DIR}/tests/fuzz/libfuzzer_entry.c)
set(fuzz_replay ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_test.c)
list(REMOVE_ITEM fuzz_support ${fuzz_targets} ${fuzz_entry} ${fuzz_replay})

if(TFCORE_FUZZ)
  # clang takes minutes for the checks of every access in these; test_fuzz has them, from gcc.
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/ops/nn/pooling.c ${CMAKE_SOURCE_DIR}/src/blas/depthwise.c
               APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined)
  foreach(source IN LISTS fuzz_targets)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source} ${fuzz_support} ${fuzz_entry})
    target_compile_options(fuzz_${name} PRIVATE ${TFCORE_WARNINGS})
    target_compile_definitions(fuzz_${name} PRIVATE TFCORE_FUZZ_TARGET=k_${name}_fuzz)
    target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(fuzz_${name} PRIVATE tfcore_c_api)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
elseif(TFCORE_TESTS)
  tfcore_test(test_fuzz ${fuzz_targets} ${fuzz_support} ${fuzz_replay} LIBRARIES tfcore_harness tfcore_c_api)
  target_include_directories(test_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/tests)
endif()
