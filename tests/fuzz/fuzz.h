/* Shared by the fuzz targets. A target is a function that processes arbitrary bytes and checks conditions
 * with FUZZ_CHECK; sanitizers, the count of live bytes and libFuzzer's limits detect other failures.
 *
 * The same targets run in two programs: fuzz_<name> (libfuzzer_entry.c, clang), which looks for new inputs,
 * and test_fuzz (replay_test.c, any compiler, WebAssembly too), which replays the kept ones.
 */
#ifndef TFCORE_TESTS_FUZZ_FUZZ_H_
#define TFCORE_TESTS_FUZZ_FUZZ_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "c/random_numbers.h"
#include "proto/proto.h"

typedef struct FuzzTarget {
  const char *name;
  void (*run)(const uint8_t *bytes, size_t size);
  /* Mutates an input in `bytes` in a way that keeps its form, and returns its new size; 0 if it has no such
   * form or the result exceeds `capacity`: then libFuzzer mutates bytes. May be NULL. */
  size_t (*mutate)(uint8_t *bytes, size_t size, size_t capacity, Random *random);
} FuzzTarget;

extern const FuzzTarget k_graph_def_fuzz, k_graph_text_fuzz, k_function_fuzz, k_checkpoint_fuzz,
    k_tensor_proto_fuzz, k_op_spec_fuzz, k_c_api_fuzz, k_example_fuzz, k_json_example_fuzz, k_csv_fuzz,
    k_png_fuzz, k_jpeg_fuzz, k_gif_fuzz, k_bmp_fuzz;

/* Before the first input: sets an allocator with limits, all ops, files in memory, one thread. No blocks may
 * be live. */
void fuzz_begin(void);
/* Undoes that. */
void fuzz_end(void);
/* Runs one input; afterwards no additional bytes may be live. */
void fuzz_run(const FuzzTarget *target, const uint8_t *bytes, size_t size);

/* Ends the process with the message when the condition does not hold. */
#define FUZZ_CHECK(condition, ...)                                \
  do {                                                            \
    if (!(condition)) fuzz_fail(__FILE__, __LINE__, __VA_ARGS__); \
  } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

/* No call may end with a code for an internal error of the engine. */
void fuzz_check_code(Code code, const char *message);
/* A message printed as text must be parsed to one that prints the same. (It need not be equal: text does not
 * keep the bits of a NaN.) */
void fuzz_check_text(const void *message, ProtoTextStyle style, Arena *arena);
/* Random choices that depend only on the input. */
Random fuzz_random(const uint8_t *bytes, size_t size);

/* --- reading an input piece by piece; after its end there are zeros --- */

typedef struct FuzzReader {
  const uint8_t *at, *end;
} FuzzReader;

uint8_t fuzz_byte(FuzzReader *reader);
/* At most `length` bytes. */
Str fuzz_bytes(FuzzReader *reader, size_t length);
/* Up to the separator, which is skipped, or the end. */
Str fuzz_until(FuzzReader *reader, char separator);

#endif
