/* What the fuzz targets share. A target is a function that does something with bytes that nobody chose; it
 * calls FUZZ_CHECK for what must hold, and sanitizers, the count of live bytes and libFuzzer's limits see the
 * rest.
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
  /* Changes an input that lies in `bytes` in a way that keeps its form, and returns its new size; 0 when it
   * has no such form or the result does not fit `capacity`: then libFuzzer changes bytes. May be NULL. */
  size_t (*mutate)(uint8_t *bytes, size_t size, size_t capacity, Random *random);
} FuzzTarget;

extern const FuzzTarget k_graph_def_fuzz, k_graph_text_fuzz, k_function_fuzz, k_checkpoint_fuzz,
    k_tensor_proto_fuzz, k_op_spec_fuzz, k_c_api_fuzz;

/* Before the first input: an allocator with limits, all ops, files in memory, one thread. Nothing may be
 * live. */
void fuzz_begin(void);
/* Takes that back. */
void fuzz_end(void);
/* One input; afterwards no byte may be live that was not before. */
void fuzz_run(const FuzzTarget *target, const uint8_t *bytes, size_t size);

/* Ends the process with the message when the condition does not hold. */
#define FUZZ_CHECK(condition, ...)                                \
  do {                                                            \
    if (!(condition)) fuzz_fail(__FILE__, __LINE__, __VA_ARGS__); \
  } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

/* No call may end with a code that says that the engine itself is at fault. */
void fuzz_check_code(Code code, const char *message);
/* A message that was printed as text is read back as one that prints the same. (Equal it need not be: the
 * bits of a NaN have no text.) */
void fuzz_check_text(const void *message, ProtoTextStyle style, Arena *arena);
/* Random choices that depend on the input alone. */
Random fuzz_random(const uint8_t *bytes, size_t size);

/* --- reading an input piece by piece; behind its end there are zeros --- */

typedef struct FuzzReader {
  const uint8_t *at, *end;
} FuzzReader;

uint8_t fuzz_byte(FuzzReader *reader);
/* At most `length` bytes. */
Str fuzz_bytes(FuzzReader *reader, size_t length);
/* Up to the separator, which is skipped, or the end. */
Str fuzz_until(FuzzReader *reader, char separator);

#endif
