#include "ops/parsing/reader.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "proto/example_protos.h"

const char kReader[] = "ReaderInterface";

enum { MOST_FILE_BYTES = INT32_MAX };

/* --- life --- */

static void close_file(Reader *reader) {
  mem_free(reader->bytes);
  reader->bytes = NULL;
  reader->size = reader->position = reader->number = 0;
}

void reader_forget_work(Reader *reader) {
  close_file(reader);
  mem_free(reader->work);
  reader->work = NULL;
  reader->work_length = 0;
}

static void destroy_reader(TensorObject *object) {
  Reader *reader = (Reader *)object;
  reader_forget_work(reader);
  mutex_destroy(&reader->lock);
  mem_free(reader->name);
  mem_free(reader);
}

Reader *reader_new(const ReaderKind *kind, const ReaderSpec *spec, Str name, Status *status) {
  Reader *reader = mem_calloc(1, sizeof *reader);
  if (reader) reader->name = mem_strdup(name.data, name.length);
  if (!reader || !reader->name || !mutex_init(&reader->lock)) {
    if (reader) mem_free(reader->name);
    mem_free(reader);
    status_oom(status, "a reader");
    return NULL;
  }
  atomic_init(&reader->resource.object.references, 1);
  reader->resource.object.destroy = destroy_reader;
  reader->resource.type_name = kReader;
  reader->kind = kind;
  reader->spec = *spec;
  return reader;
}

void reader_reset(Reader *reader) {
  reader_forget_work(reader);
  reader->work_started = reader->work_finished = reader->records_produced = 0;
}

/* --- work --- */

static bool set_work(Reader *reader, Str work, Status *status) {
  char *copy = mem_strdup(work.data, work.length);
  if (!copy) return status_oom(status, "a piece of work");
  reader_forget_work(reader);
  reader->work = copy;
  reader->work_length = (int64_t)work.length;
  return true;
}

bool reader_open(Reader *reader, Status *status) {
  char path[FILE_PATH_MAX + 1];
  mem_free(reader->bytes);
  reader->bytes = NULL;
  return file_path((Str){reader->work, (size_t)reader->work_length}, path, status) &&
         file_read_all(path, MOST_FILE_BYTES, &reader->bytes, &reader->size, status);
}

bool reader_start(Reader *reader, Str work, Status *status) {
  TRY(set_work(reader, work, status));
  TRY(!reader->kind->opens_file || reader_open(reader, status));
  TRY(!reader->kind->start || reader->kind->start(reader, status));
  reader->work_started++;
  return true;
}

bool reader_read(Reader *reader, ReaderRecord *record, bool *made, Status *status) {
  bool ends = false;
  *made = false;
  TRY(reader->kind->read(reader, record, made, &ends, status));
  reader->records_produced += *made;
  if (!ends) return true;
  close_file(reader);
  reader->work_finished = reader->work_started;
  return true;
}

bool reader_set_key(const Reader *reader, int64_t number, ReaderRecord *record, Status *status) {
  StrBuf key = {0};
  strbuf_append_bytes(&key, reader->work, (size_t)reader->work_length);
  strbuf_printf(&key, ":%lld", (long long)number);
  bool ok =
      strbuf_ok(&key, status) && tstring_set(&record->key, strbuf_text(&key), (size_t)key.length, status);
  strbuf_free(&key);
  return ok;
}

/* --- state --- */

bool reader_serialize(const Reader *reader, StrBuf *bytes, Status *status) {
  if (!reader->kind->saves) return status_set(status, CODE_UNIMPLEMENTED, "Reader SerializeState");
  ReaderBaseState state = TENSORFLOW__READER_BASE_STATE__INIT;
  state.work_started = reader->work_started;
  state.work_finished = reader->work_finished;
  state.num_records_produced = reader->records_produced;
  state.current_work = (ProtobufCBinaryData){(size_t)reader->work_length, (uint8_t *)reader->work};
  return proto_serialize(&state, bytes, status);
}

static bool refuse_state(const Reader *reader, const char *what, const ReaderBaseState *state,
                         Status *status) {
  StrBuf text = {0};
  proto_print_text(state, PROTO_TEXT_MULTI_LINE, &text);
  status_invalid(status, "%s when restoring in %s '%s': %s", what, reader->kind->op, reader->name,
                 strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool take_state(Reader *reader, const ReaderBaseState *state, Status *status) {
  if (state->work_started < 0 || state->work_finished < 0 || state->num_records_produced < 0)
    return refuse_state(reader, "Unexpected negative value", state, status);
  if (state->work_started > state->work_finished)
    return refuse_state(reader, "Inconsistent work started vs. finished", state, status);
  const ProtobufCBinaryData *work = &state->current_work;
  TRY(set_work(reader, work->len > 0 ? (Str){(const char *)work->data, work->len} : str_of(""), status));
  reader->work_started = state->work_started;
  reader->work_finished = state->work_finished;
  reader->records_produced = state->num_records_produced;
  return true;
}

static bool parse_state(Reader *reader, Str bytes, Arena *arena, Status *status) {
  void *message;
  StrBuf text = {0};
  if (proto_parse(kReaderBaseState, bytes.data, bytes.length, arena, &message, status))
    return take_state(reader, message, status);
  strbuf_append_c_escaped(&text, bytes.data, bytes.length);
  status_reword(status, CODE_INVALID_ARGUMENT, "Could not parse state for %s '%s': %s", reader->kind->op,
                reader->name, strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

bool reader_restore(Reader *reader, Str bytes, Status *status) {
  if (!reader->kind->saves) {
    reader_reset(reader);
    return status_set(status, CODE_UNIMPLEMENTED, "Reader RestoreState");
  }
  Arena *arena = arena_new();
  bool ok = arena ? parse_state(reader, bytes, arena, status) : status_oom(status, "the state of a reader");
  arena_free(arena);
  if (!ok) reader_reset(reader);
  return ok;
}
