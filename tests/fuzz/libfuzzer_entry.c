/* The entry point for libFuzzer. TFCORE_FUZZ_TARGET is the target. */
#include "base/alloc.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity);
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* A refused allocation is a normal case; a small quarantine limits the process's memory. */
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:strict_string_checks=1:quarantine_size_mb=16:detect_stack_use_after_"
         "return=1";
}
__attribute__((visibility("default"))) const char *__ubsan_default_options(void) {
  return "print_stacktrace=1";
}

__attribute__((visibility("default"))) int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  fuzz_begin();
  return 0;
}

__attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_run(&TFCORE_FUZZ_TARGET, bytes, size);
  return 0;
}

__attribute__((visibility("default"))) size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size,
                                                                      size_t capacity, unsigned seed) {
  Random random = {seed};
  size_t changed = 0;
  if (TFCORE_FUZZ_TARGET.mutate && !one_in(&random, 5))
    changed = TFCORE_FUZZ_TARGET.mutate(bytes, size, capacity, &random);
  return changed > 0 ? changed : LLVMFuzzerMutate(bytes, size, capacity);
}
