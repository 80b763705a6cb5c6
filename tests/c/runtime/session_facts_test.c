/* Recorded facts about sessions (tests/data/facts/session.jsonl): runs, callables and partial runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "proto/proto.h"
#include "runtime/partial_run.h"
#include "runtime/session_fixture.h"

enum { MOST = 8 };

typedef struct Player {
  Fixture f;
  SessionCallable *callables[MOST];
  const char *callable_names[MOST];
  int num_callables;
  char *partial_run;
} Player;

static const char *text_of(const Json *json, const char *key) {
  const Json *text = json_get(json, key);
  return text ? text->string : NULL;
}

static void read_tensor(const Json *json, Tensor *tensor) {
  Status status;
  status_init(&status);
  const Json *shape = json_get(json, "shape"), *values = json_get(json, "values");
  bool is_float = strcmp(text_of(json, "dtype"), "float") == 0;
  int64_t dims[MOST] = {0};
  for (int i = 0; i < shape->count && i < MOST; i++) dims[i] = shape->items[i].integer;
  CHECK(is_float || strcmp(text_of(json, "dtype"), "int32") == 0);
  REQUIRE_OK(tensor_allocate_dims(tensor, is_float ? DT_FLOAT : DT_INT32, shape->count, dims, NULL, &status),
             status);
  REQUIRE(tensor_num_elements(tensor) == values->count);
  for (int i = 0; i < values->count; i++) {
    if (is_float) tensor_f32(tensor)[i] = (float)values->items[i].number;
    if (!is_float) tensor_i32(tensor)[i] = (int32_t)values->items[i].integer;
  }
}

static int outputs_of(Player *p, const Json *names, NodeOutput *outputs) {
  int count = names ? names->count : 0;
  for (int i = 0; i < count; i++) {
    const Json *name = names->items[i].kind == JSON_ARRAY ? &names->items[i].items[0] : &names->items[i];
    CHECK_OK(graph_find_output(p->f.graph, name->string, &outputs[i], &p->f.status), p->f.status);
  }
  return count;
}

/* Reads the feeds of the call: by name, or (callables) in order. */
static int values_of(const Json *feeds, Tensor *values, const Tensor **given) {
  int count = feeds ? feeds->count : 0;
  for (int i = 0; i < count; i++) {
    const Json *feed = &feeds->items[i];
    read_tensor(feed->kind == JSON_ARRAY ? &feed->items[1] : feed, &values[i]);
    given[i] = &values[i];
  }
  return count;
}

static void check_values(const Json *expect, Tensor *results) {
  for (int i = 0; expect && i < expect->count; i++) {
    Tensor want = {0};
    read_tensor(&expect->items[i], &want);
    CHECK(shape_equal(&results[i].shape, &want.shape));
    /* Compares values, not bits, because the record does not distinguish -0 from 0. */
    for (int64_t k = 0; CHECK_INT_EQ(results[i].dtype, want.dtype) && k < tensor_num_elements(&want); k++) {
      if (want.dtype == DT_FLOAT) CHECK(tensor_f32(&results[i])[k] == tensor_f32(&want)[k]);
      if (want.dtype == DT_INT32) CHECK_INT_EQ(tensor_i32(&results[i])[k], tensor_i32(&want)[k]);
    }
    tensor_clear(&want);
  }
}

static StepSignature signature_of(Player *p, const Json *json, const char *feeds, const char *fetches,
                                  const char *targets, NodeOutput *places) {
  const Json *names = json_get(json, targets);
  static Node *nodes[MOST];
  StepSignature signature = {.feeds = places, .fetches = places + MOST, .targets = nodes};
  signature.num_feeds = outputs_of(p, json_get(json, feeds), places);
  signature.num_fetches = outputs_of(p, json_get(json, fetches), places + MOST);
  signature.num_targets = names ? names->count : 0;
  for (int i = 0; i < signature.num_targets; i++)
    nodes[i] = graph_find_node(p->f.graph, names->items[i].string);
  return signature;
}

static int64_t number_of(const Json *object, const char *key, int64_t otherwise) {
  const Json *number = json_get(object, key);
  return number ? number->integer : otherwise;
}

static bool is_set(const Json *object, const char *key) {
  const Json *value = json_get(object, key);
  return value && value->boolean;
}

static void configure(Player *p, const Json *options) {
  const Json *pools = json_get(options, "session_inter_op_thread_pool"),
             *experimental = json_get(options, "experimental");
  const SessionConfig config = {.num_thread_pools = pools ? pools->count : 1,
                                .static_graph = is_set(experimental, "optimize_for_static_graph"),
                                .no_partition_graphs =
                                    is_set(experimental, "disable_output_partition_graphs"),
                                .executor_type = ""};
  CHECK_OK(session_configure(p->f.session, &config, &p->f.status), p->f.status);
  session_set_timeout(p->f.session, number_of(options, "operation_timeout_in_ms", 0));
}

static bool run(Player *p, const Json *call, Tensor *results) {
  NodeOutput places[2 * MOST];
  Tensor values[MOST] = {{0}};
  const Tensor *given[MOST];
  StepSignature signature = signature_of(p, call, "feeds", "fetches", "targets", places);
  const Json *asked = json_get(call, "run_options");
  const SessionRunOptions options = {.timeout_ms = number_of(asked, "timeout_in_ms", 0),
                                     .inter_op_thread_pool =
                                         (int32_t)number_of(asked, "inter_op_thread_pool", 0),
                                     .output_partition_graphs = is_set(asked, "output_partition_graphs")};
  SessionStep *step;
  int count = values_of(json_get(call, "feeds"), values, given);
  bool ok = session_begin(p->f.session, &options, &signature, given, &step, &p->f.status) &&
            session_finish(step, results, &p->f.status);
  for (int i = 0; i < count; i++) tensor_clear(&values[i]);
  return ok;
}

static bool set_up_partial_run(Player *p, const Json *call) {
  NodeOutput places[2 * MOST];
  const char *handle;
  StepSignature signature = signature_of(p, call, "feeds", "fetches", "targets", places);
  TRY(session_setup_partial_run(p->f.session, &signature, &handle, &p->f.status));
  p->partial_run = mem_strdup(handle, strlen(handle));
  return true;
}

static bool run_piece(Player *p, const Json *call, Tensor *results) {
  NodeOutput places[2 * MOST];
  Tensor values[MOST] = {{0}};
  const Tensor *given[MOST];
  SessionStep *step;
  StepSignature signature = signature_of(p, call, "feeds", "fetches", "targets", places);
  int count = values_of(json_get(call, "feeds"), values, given);
  bool ok =
      session_begin_piece(p->f.session, p->partial_run, NULL, signature.feeds, given, signature.num_feeds,
                          signature.fetches, signature.num_fetches, results, &step, &p->f.status) &&
      (!step || session_finish(step, results, &p->f.status));
  for (int i = 0; i < count; i++) tensor_clear(&values[i]);
  return ok;
}

static bool make_callable(Player *p, const Json *call) {
  const Json *options = json_get(call, "options"), *pairs = json_get(options, "tensor_connection");
  NodeOutput places[2 * MOST];
  TensorConnection connections[MOST];
  StepSignature signature = signature_of(p, options, "feed", "fetch", "target", places);
  signature.connections = connections;
  signature.num_connections = pairs ? pairs->count : 0;
  for (int i = 0; pairs && i < pairs->count; i++) {
    NodeOutput ends[2];
    outputs_of(p, &pairs->items[i], ends);
    connections[i] = (TensorConnection){ends[0], ends[1]};
  }
  TRY(session_make_callable(p->f.session, &signature, &p->callables[p->num_callables], &p->f.status));
  p->callable_names[p->num_callables++] = text_of(call, "handle");
  return true;
}

static bool run_callable(Player *p, const Json *call, Tensor *results) {
  Tensor values[MOST] = {{0}};
  const Tensor *given[MOST];
  SessionStep *step;
  int count = values_of(json_get(call, "args"), values, given), i = 0;
  while (i < p->num_callables && strcmp(p->callable_names[i], text_of(call, "handle")) != 0) i++;
  bool ok = CHECK(i < p->num_callables) &&
            session_begin_call(p->callables[i], NULL, given, count, &step, &p->f.status) &&
            session_finish(step, results, &p->f.status);
  for (int k = 0; k < count; k++) tensor_clear(&values[k]);
  return ok;
}

static bool play(Player *p, const Json *call, Tensor *results) {
  const char *what = text_of(call, "do");
  if (strcmp(what, "create") == 0 || strcmp(what, "release_callable") == 0) return true;
  if (strcmp(what, "extend") == 0) return session_extend(p->f.session, &p->f.status);
  if (strcmp(what, "run") == 0) return run(p, call, results);
  if (strcmp(what, "prun_setup") == 0) return set_up_partial_run(p, call);
  if (strcmp(what, "prun") == 0) return run_piece(p, call, results);
  if (strcmp(what, "make_callable") == 0) return make_callable(p, call);
  if (strcmp(what, "run_callable") == 0) return run_callable(p, call, results);
  if (strcmp(what, "close") == 0) session_close(p->f.session);
  if (strcmp(what, "finalize") == 0) session_finalize(p->f.session);
  return CHECK(strcmp(what, "close") == 0 || strcmp(what, "finalize") == 0);
}

static void check_call(Player *p, const Json *call) {
  const Json *error = json_get(call, "error"), *code = json_get(call, "code");
  Tensor results[MOST] = {{0}};
  status_init(&p->f.status);
  bool ok = play(p, call, results);
  if (!error) {
    CHECK_OK(ok, p->f.status);
    if (ok) check_values(json_get(call, "expect"), results);
  } else {
    CHECK(!ok);
    CHECK_INT_EQ(p->f.status.code, code->integer);
    for (int i = 0; i < error->count; i++) CHECK_STR_CONTAINS(p->f.status.message, error->items[i].string);
  }
  for (int i = 0; i < MOST; i++) tensor_clear(&results[i]);
}

static void check_fact(const Json *fact, Arena *arena) {
  Player p = {.num_callables = 0};
  void *def;
  const Json *calls = json_get(fact, "calls");
  if (begin(&p.f) &&
      CHECK_OK(proto_parse_text(kGraphDef, str_of(text_of(fact, "graphdef")), arena, &def, &p.f.status) &&
                   graph_import(p.f.graph, def, false, NULL, arena, NULL, &p.f.status),
               p.f.status)) {
    configure(&p, json_get(fact, "session_options"));
    for (int i = 0; i < calls->count; i++) check_call(&p, &calls->items[i]);
  }
  for (int i = 0; i < p.num_callables; i++) session_release_callable(p.callables[i]);
  mem_free(p.partial_run);
  end(&p.f);
}

TEST(sessions_do_what_was_recorded) {
  FILE *file = fopen("tests/data/facts/session.jsonl", "rb");
  REQUIRE(file);
  char *line = NULL;
  size_t capacity = 0;
  int checked = 0, number = 0;
  for (ssize_t length; (length = getline(&line, &capacity, file)) >= 0;) {
    Arena *arena = arena_new();
    const Json *fact = json_parse(arena, line, (size_t)length);
    CHECK_CONTEXT("line %d", ++number);
    if (CHECK(fact) && strcmp(text_of(fact, "kind"), "session") == 0) {
      check_fact(fact, arena);
      checked++;
    }
    arena_free(arena);
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(checked, 21);
  free(line);
  fclose(file);
}
