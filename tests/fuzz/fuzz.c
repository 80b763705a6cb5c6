#include "fuzz/fuzz.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "base/log.h"
#include "base/string_map.h"
#include "c_api/c_api_internal.h"
#include "op/op_registry.h"
#include "runtime/thread_pool.h"

/* Steps stay short because tensors stay small: larger ones must end as RESOURCE_EXHAUSTED. An arena takes
 * blocks of growing size, so the limit also ends graphs that grow beyond half a megabyte. */
enum { LARGEST_FUZZ_BLOCK = (1 << 18) + 128, LIVE_LIMIT = 24 << 20 };

/* Processor time, because other work on the machine does not count. */
enum { SLOW_SECONDS = 5 };

static atomic_int_fast64_t live;
static bool blocks_are_limited; /* not while ops are registered, whose arena grows beyond that */

static void *allocate_limited(void *context, size_t size) {
  (void)context;
  if ((blocks_are_limited && size > LARGEST_FUZZ_BLOCK) || atomic_load(&live) + (int64_t)size > LIVE_LIMIT)
    return NULL;
  void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
  if (memory) atomic_fetch_add(&live, (int64_t)size);
  return memory;
}

static void deallocate_limited(void *context, void *memory, size_t size) {
  (void)context;
  atomic_fetch_sub(&live, (int64_t)size);
  free(memory);
}

static const Allocator kLimited = {allocate_limited, deallocate_limited, NULL};
static const FileStore *files_before;

static void swallow(void *arg, const char *line) { (void)arg, (void)line; }

void fuzz_begin(void) {
  Status status;
  status_init(&status);
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
  FUZZ_CHECK(mem_set_allocator(NULL), "%lld bytes are live at the start", (long long)mem_live_bytes());
  FUZZ_CHECK(mem_set_allocator(&kLimited), "the allocator cannot be set");
  files_before = file_store();
  file_store_use(&kMemoryFiles);
  log_set_sink(swallow, NULL);
  thread_pool_set_size(1);
  thread_pool_default();
  FUZZ_CHECK(register_ops(&status), "%s", status.message);
  FUZZ_CHECK(op_registry_process_registrations(op_registry_global(), &status), "%s", status.message);
  blocks_are_limited = true;
}

void fuzz_end(void) {
  blocks_are_limited = false;
  log_set_sink(NULL, NULL);
  file_store_use(files_before);
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
  FUZZ_CHECK(mem_set_allocator(NULL), "%lld bytes are live at the end", (long long)mem_live_bytes());
}

void fuzz_run(const FuzzTarget *target, const uint8_t *bytes, size_t size) {
  int64_t before = mem_live_bytes();
  clock_t start = clock();
  target->run(bytes, size);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  file_memory_clear();
  FUZZ_CHECK(seconds < SLOW_SECONDS, "took %.1f s", seconds);
  FUZZ_CHECK(mem_live_bytes() == before, "%lld bytes leaked", (long long)(mem_live_bytes() - before));
}

void fuzz_fail(const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  abort();
}

void fuzz_check_code(Code code, const char *message) {
  FUZZ_CHECK(code != CODE_UNKNOWN && code != CODE_ABORTED, "code %s: %s", code_name(code), message);
  FUZZ_CHECK((code == CODE_OK) == (message[0] == '\0'), "code %s with the message '%s'", code_name(code),
             message);
}

void fuzz_check_text(const void *message, ProtoTextStyle style, Arena *arena) {
  Status status;
  status_init(&status);
  StrBuf text = {0}, second = {0};
  void *again;
  proto_print_text(message, style, &text);
  if (strbuf_ok(&text, &status)) {
    Str printed = {strbuf_text(&text), (size_t)text.length};
    bool ok = proto_parse_text(((const ProtoMessage *)message)->descriptor, printed, arena, &again, &status);
    FUZZ_CHECK(ok || status.code == CODE_RESOURCE_EXHAUSTED, "printed text is not read: %s", status.message);
    if (ok) proto_print_text(again, style, &second);
    FUZZ_CHECK(!ok || !strbuf_ok(&second, &status) || strcmp(strbuf_text(&text), strbuf_text(&second)) == 0,
               "printed text is read as something else");
  }
  strbuf_free(&text);
  strbuf_free(&second);
}

Random fuzz_random(const uint8_t *bytes, size_t size) { return (Random){hash_bytes(bytes, size) ^ size}; }

uint8_t fuzz_byte(FuzzReader *reader) { return reader->at < reader->end ? *reader->at++ : 0; }

Str fuzz_bytes(FuzzReader *reader, size_t length) {
  size_t rest = (size_t)(reader->end - reader->at);
  Str piece = {(const char *)reader->at, length < rest ? length : rest};
  reader->at += piece.length;
  return piece;
}

Str fuzz_until(FuzzReader *reader, char separator) {
  const uint8_t *start = reader->at;
  const uint8_t *found = start < reader->end ? memchr(start, separator, (size_t)(reader->end - start)) : NULL;
  reader->at = found ? found + 1 : reader->end;
  return (Str){(const char *)start, (size_t)((found ? found : reader->end) - start)};
}
