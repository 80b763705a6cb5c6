/* Traces of steps: compared with TensorFlow's (tests/data/oracle/traces.jsonl, which tests/oracle/traces.py
 * wrote), and what they say about memory and time. */
#include "runtime/step_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "json.h"
#include "proto/proto.h"
#include "runtime/session_fixture.h"

enum { MOST = 8 };

static const char *text_of(const Json *json, const char *key) { return json_get(json, key)->string; }

static const StepStats *stats_of(StepTrace *trace) {
  Status status;
  const StepStats *stats;
  status_init(&status);
  return CHECK_OK(step_trace_stats(trace, &stats, &status), status) ? stats : NULL;
}

static int compare_names(const void *a, const void *b) {
  const NodeExecStats *const *x = a, *const *y = b;
  return strcmp((*x)->node_name, (*y)->node_name);
}

static bool is_const(const char *label) { return strstr(label, " = Const()"); }

static void check_output(const Json *want, const OutputStats *got) {
  const TensorDescription *tensor = got->tensor_description;
  const Json *shape = json_get(want, "shape"), *bytes = json_get(want, "bytes");
  CHECK_INT_EQ(got->slot, json_get(want, "slot")->integer);
  CHECK_INT_EQ((int)tensor->dtype, json_get(want, "dtype")->integer);
  if (CHECK_INT_EQ(tensor->shape->n_dim, shape->count)) {
    for (int d = 0; d < shape->count; d++) CHECK_INT_EQ(tensor->shape->dim[d]->size, shape->items[d].integer);
  }
  if (bytes->kind == JSON_NUMBER)
    CHECK_INT_EQ(tensor->allocation_description->requested_bytes, bytes->integer);
}

static void check_record(const Json *want, const NodeExecStats *got) {
  const Json *outputs = json_get(want, "outputs");
  CHECK_STR_EQ(got->node_name, text_of(want, "name"));
  CHECK_STR_EQ(got->timeline_label, text_of(want, "label"));
  CHECK_INT_EQ(got->memory_stats != NULL, json_get(want, "stats")->boolean);
  if (!CHECK_INT_EQ(got->n_output, outputs->count)) return;
  for (int i = 0; i < outputs->count; i++) check_output(&outputs->items[i], got->output[i]);
}

/* TensorFlow records a constant whenever it is read, this library once for each run. So repeated constants
 * and those of branches that are not taken are no difference. */
static void check_records(const Json *nodes, DeviceStepStats *device) {
  size_t at = 0;
  qsort(device->node_stats, device->n_node_stats, sizeof *device->node_stats, compare_names);
  for (int i = 0; i < nodes->count; i++) {
    const Json *want = &nodes->items[i];
    bool constant = is_const(text_of(want, "label"));
    if (constant && i > 0 && strcmp(text_of(want, "name"), text_of(&nodes->items[i - 1], "name")) == 0)
      continue;
    while (at < device->n_node_stats && is_const(device->node_stats[at]->timeline_label) &&
           strcmp(device->node_stats[at]->node_name, text_of(want, "name")) != 0)
      at++;
    CHECK_CONTEXT("%s", text_of(want, "label"));
    if (CHECK(at < device->n_node_stats)) check_record(want, device->node_stats[at++]);
  }
  for (; at < device->n_node_stats; at++) CHECK(is_const(device->node_stats[at]->timeline_label));
}

static void run_traced(Fixture *f, const Json *test, StepTrace *trace) {
  const Json *fetches = json_get(test, "fetches"), *feeds = json_get(test, "feeds");
  NodeOutput feed, outputs[MOST];
  Tensor value = {0}, results[MOST] = {{0}};
  const Tensor *given = &value;
  SessionStep *step;
  const int64_t dims[] = {2, 2};
  SessionRunOptions options = {.trace = trace};
  for (int i = 0; i < fetches->count; i++)
    REQUIRE(graph_find_output(f->graph, fetches->items[i].string, &outputs[i], &f->status));
  if (feeds->count > 0) {
    REQUIRE(graph_find_output(f->graph, feeds->items[0].string, &feed, &f->status) &&
            tensor_allocate_dims(&value, DT_FLOAT, 2, dims, NULL, &f->status));
    for (int i = 0; i < 4; i++) tensor_f32(&value)[i] = (float)i;
  }
  const StepSignature signature = {.feeds = &feed,
                                   .num_feeds = feeds->count,
                                   .fetches = outputs,
                                   .num_fetches = fetches->count};
  CHECK_OK(session_begin(f->session, &options, &signature, &given, &step, &f->status) &&
               session_advance(step, 0, results, &f->status) == RUN_DONE,
           f->status);
  tensor_clear(&value);
  for (int i = 0; i < MOST; i++) tensor_clear(&results[i]);
}

static void check_case(const Json *test, void *argument) {
  Fixture f;
  void *def;
  Arena *arena = arena_new();
  StepTrace *trace = step_trace_new();
  int *checked = argument;
  REQUIRE(arena && trace && begin(&f));
  session_optimize(f.session, false);
  if (CHECK_OK(proto_parse_text(kGraphDef, str_of(text_of(test, "graph")), arena, &def, &f.status) &&
                   graph_import(f.graph, def, false, NULL, arena, NULL, &f.status),
               f.status)) {
    run_traced(&f, test, trace);
    const StepStats *stats = stats_of(trace);
    if (CHECK(stats) && CHECK_INT_EQ(stats->n_dev_stats, 1)) {
      CHECK_STR_EQ(stats->dev_stats[0]->device, text_of(test, "device"));
      check_records(json_get(test, "nodes"), stats->dev_stats[0]);
    }
  }
  ++*checked;
  end(&f);
  step_trace_free(trace);
  arena_free(arena);
}

TEST(traces_have_the_records_of_tensorflow) {
  int checked = 0;
  CHECK_INT_EQ(json_read_lines("tests/data/oracle/traces.jsonl", check_case, &checked), 8);
  CHECK_INT_EQ(checked, 8);
}

/* Runs `fetch` of a new session, traced; frees the session. */
static StepTrace *trace_of(Fixture *f, NodeOutput fetch) {
  Tensor result = {0};
  SessionStep *step;
  StepTrace *trace = step_trace_new();
  SessionRunOptions options = {.trace = trace};
  CHECK(trace &&
        start_step(f->session, &options, NULL, NULL, fetch, 0, &result, &step, &f->status) == RUN_DONE);
  tensor_clear(&result);
  return trace;
}

static const NodeExecStats *record_of(const StepTrace *trace, const char *name) {
  const StepStats *stats = stats_of((StepTrace *)trace);
  for (size_t i = 0; stats && stats->n_dev_stats > 0 && i < stats->dev_stats[0]->n_node_stats; i++) {
    const NodeExecStats *record = stats->dev_stats[0]->node_stats[i];
    if (strcmp(record->node_name, name) == 0) return record;
  }
  return NULL;
}

/* A float vector of `count` elements that nothing folds. */
static NodeOutput random_vector(Graph *graph, int64_t count) {
  char text[96];
  snprintf(text, sizeof text, "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: %lld }",
           (long long)count);
  Attr shape_attrs[] = {{"dtype", "type: DT_INT32"}, {"value", text}};
  NodeOutput shape = out(add_node(graph, "Const", "shape", NULL, 0, shape_attrs, 2));
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"T", "type: DT_INT32"}};
  return out(add_node(graph, "RandomUniform", "random", &shape, 1, attrs, 2));
}

TEST(records_have_the_memory_that_kernels_allocate) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput random = random_vector(f.graph, 1 << 18), y = unary(f.graph, "Neg", "y", random);
  StepTrace *trace = trace_of(&f, y);
  const NodeExecStats *made = record_of(trace, "random"), *forwarded = record_of(trace, "y");
  if (CHECK(made && forwarded)) {
    const int64_t bytes = 4 << 18;
    CHECK_STR_EQ(made->timeline_label, "[cpu 1.0MB 1.0MB] random = RandomUniform(shape)");
    if (CHECK_INT_EQ(made->n_memory, 1)) {
      CHECK_STR_EQ(made->memory[0]->allocator_name, "cpu");
      CHECK_INT_EQ(made->memory[0]->total_bytes, bytes);
      CHECK_INT_EQ(made->memory[0]->live_bytes, bytes);
      CHECK_INT_EQ(made->memory[0]->n_allocation_records, 1);
    }
    CHECK_INT_EQ(made->output[0]->tensor_description->allocation_description->allocated_bytes, bytes);
    CHECK_INT_EQ(made->output[0]->tensor_description->allocation_description->allocation_id, 1);
    /* Neg computes in the memory of its input. */
    CHECK_STR_EQ(forwarded->timeline_label, "y = Neg(random)");
    CHECK_INT_EQ(forwarded->n_memory, 0);
    CHECK(forwarded->output[0]->tensor_description->allocation_description->ptr ==
          made->output[0]->tensor_description->allocation_description->ptr);
  }
  step_trace_free(trace);
  end(&f);
}

TEST(records_of_fused_nodes_have_their_ops) {
  Fixture f;
  REQUIRE(begin(&f));
  NodeOutput random = random_vector(f.graph, 16);
  StepTrace *trace = trace_of(&f, unary(f.graph, "Neg", "y", unary(f.graph, "Exp", "e", random)));
  const NodeExecStats *fused = record_of(trace, "y");
  if (CHECK(fused)) CHECK_STR_EQ(fused->timeline_label, "y = _FusedElementwise[Exp,Neg](random)");
  CHECK(!record_of(trace, "e"));
  step_trace_free(trace);
  end(&f);
}

TEST(records_of_fused_products_have_their_ops) {
  Fixture f;
  REQUIRE(begin(&f));
  Attr attrs[] = {{"dtype", "type: DT_INT32"},
                  {"value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 4 }"}};
  NodeOutput sizes = out(add_node(f.graph, "Const", "sizes", NULL, 0, attrs, 2));
  NodeOutput m = binary(f.graph, "Reshape", "m", random_vector(f.graph, 16), sizes);
  NodeOutput product = binary(f.graph, "MatMul", "product", m, m);
  NodeOutput sum = binary(f.graph, "AddV2", "sum", product, m);
  StepTrace *trace = trace_of(&f, unary(f.graph, "Tanh", "tanh", unary(f.graph, "Relu", "relu", sum)));
  const NodeExecStats *fused = record_of(trace, "product");
  if (CHECK(fused)) CHECK_STR_EQ(fused->timeline_label, "product = _FusedMatMul[AddV2,Relu,Tanh](m, m, m)");
  step_trace_free(trace);
  end(&f);
}

static int64_t wall_micros(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* In WebAssembly the clock counts whole milliseconds: a moment that is read later may look earlier by that.
 */
static int64_t wall_resolution_micros(void) {
  struct timespec step;
  clock_getres(CLOCK_REALTIME, &step);
  return (int64_t)step.tv_sec * 1000000 + step.tv_nsec / 1000 + 1;
}

TEST(records_have_increasing_times_since_1970) {
  Fixture f;
  REQUIRE(begin(&f));
  int64_t earliest = wall_micros(), began = clock_nanoseconds();
  StepTrace *trace = trace_of(&f, unary(f.graph, "Neg", "y", random_vector(f.graph, 1 << 16)));
  int64_t elapsed = clock_nanoseconds() - began, latest = wall_micros() + wall_resolution_micros();
  const NodeExecStats *random = record_of(trace, "random"), *y = record_of(trace, "y");
  if (CHECK(random && y)) {
    CHECK(random->all_start_micros >= earliest && random->all_start_micros <= latest);
    CHECK(random->op_end_rel_nanos > 0 && random->all_end_rel_nanos >= random->op_end_rel_nanos);
    CHECK_INT_EQ(random->all_end_rel_micros, random->all_end_rel_nanos / 1000);
    CHECK(y->all_start_nanos >= random->all_start_nanos + random->op_end_rel_nanos);
    CHECK(y->all_start_nanos + y->all_end_rel_nanos - random->all_start_nanos <= elapsed);
  }
  step_trace_free(trace);
  end(&f);
}

TEST(a_step_that_pauses_has_each_record_once) {
  Fixture f;
  REQUIRE(begin(&f));
  REQUIRE(define(f.graph, COUNTING_FUNCTIONS("20000")));
  session_optimize(f.session, false);
  NodeOutput zero =
      out(add_node(f.graph, "Const", "zero", NULL, 0,
                   (Attr[]){{"dtype", "type: DT_INT32"},
                            {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 }"}},
                   2));
  NodeOutput count = out(add_node(f.graph, "Count", "count", &zero, 1, NULL, 0));
  StepTrace *trace = step_trace_new();
  SessionRunOptions options = {.trace = trace};
  Tensor result = {0};
  SessionStep *step;
  int pauses = 0;
  RunState state = start_step(f.session, &options, NULL, NULL, count, 1, &result, &step, &f.status);
  for (; state == RUN_WAITING; pauses++) state = session_advance(step, 1, &result, &f.status);
  CHECK_OK(state == RUN_DONE, f.status);
  CHECK(pauses > 0);
  const StepStats *stats = stats_of(trace);
  int64_t calls = 0, bodies = 0;
  for (size_t i = 0; stats && i < stats->dev_stats[0]->n_node_stats; i++) {
    const char *label = stats->dev_stats[0]->node_stats[i]->timeline_label;
    calls += strcmp(label, "count = Count(zero)") == 0;
    bodies += strcmp(label, "j = Add(i, one)") == 0;
  }
  CHECK_INT_EQ(calls, 1);
  CHECK_INT_EQ(bodies, 20000);
  const NodeExecStats *call = record_of(trace, "count"), *first = record_of(trace, "j");
  if (CHECK(call && first)) CHECK(call->all_start_nanos <= first->all_start_nanos);
  tensor_clear(&result);
  step_trace_free(trace);
  end(&f);
}
