/* Facts about imported GraphDefs in sessions (tests/data/facts/import.jsonl, records with "run"): the graph
 * is exported with its functions, imported into another one, and run there. */
#include <stdio.h>
#include <stdlib.h>

#include "c_api/c_api_fixture.h"
#include "json.h"
#include "proto/proto.h"

static TF_Buffer *graph_of_text(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  void *message;
  StrBuf bytes = {0};
  TF_Buffer *buffer = NULL;
  if (CHECK_OK(proto_parse_text(kGraphDef, str_of(text), arena, &message, &status), status) &&
      CHECK_OK(proto_serialize(message, &bytes, &status), status)) {
    buffer = TF_NewBufferFromString(strbuf_text(&bytes), (size_t)bytes.length);
  }
  strbuf_free(&bytes);
  return buffer;
}

/* {"dtype": "float", "shape": [...], "values": [...]} */
static TF_Tensor *tensor_of_json(const Json *json) {
  const Json *shape = json_get(json, "shape"), *values = json_get(json, "values");
  CHECK_STR_EQ(json_get(json, "dtype")->string, "float");
  int64_t dims[8] = {0};
  for (int i = 0; i < shape->count && i < 8; i++) dims[i] = shape->items[i].integer;
  TF_Tensor *tensor = TF_AllocateTensor(TF_FLOAT, dims, shape->count, sizeof(float) * (size_t)values->count);
  if (!CHECK(tensor) || !CHECK_INT_EQ(TF_TensorElementCount(tensor), values->count)) return tensor;
  for (int i = 0; i < values->count; i++)
    ((float *)TF_TensorData(tensor))[i] = (float)values->items[i].number;
  return tensor;
}

static void check_equal(const TF_Tensor *got, const TF_Tensor *want) {
  if (!CHECK_INT_EQ(TF_NumDims(got), TF_NumDims(want))) return;
  for (int i = 0; i < TF_NumDims(want); i++) CHECK_INT_EQ(TF_Dim(got, i), TF_Dim(want, i));
  if (CHECK_INT_EQ(TF_TensorByteSize(got), TF_TensorByteSize(want)))
    CHECK_MEM_EQ(TF_TensorData(got), TF_TensorData(want), TF_TensorByteSize(want));
}

enum { MOST = 4 };

static void run_fact(Fixture *f, const Json *fact) {
  const Json *feeds = json_get(fact, "feeds"), *fetches = json_get(fact, "fetches"),
             *values = json_get(fact, "values");
  TF_Output inputs[MOST] = {{NULL, 0}}, outputs[MOST] = {{NULL, 0}};
  TF_Tensor *input_values[MOST] = {NULL}, *results[MOST] = {NULL};
  TF_Session *session = TF_NewSession(f->graph, NULL, f->status);
  REQUIRE(CHECK_TF_OK(f->status) && CHECK(feeds->count <= MOST && fetches->count <= MOST));
  for (int i = 0; i < feeds->count; i++) {
    inputs[i].oper = TF_GraphOperationByName(f->graph, feeds->keys[i]);
    input_values[i] = tensor_of_json(&feeds->items[i]);
  }
  for (int i = 0; i < fetches->count; i++)
    outputs[i].oper = TF_GraphOperationByName(f->graph, fetches->items[i].string);
  TF_SessionRun(session, NULL, inputs, input_values, feeds->count, outputs, results, fetches->count, NULL, 0,
                NULL, f->status);
  if (CHECK_TF_OK(f->status) && CHECK_INT_EQ(fetches->count, values->count)) {
    for (int i = 0; i < fetches->count; i++) {
      TF_Tensor *want = tensor_of_json(&values->items[i]);
      check_equal(results[i], want);
      TF_DeleteTensor(want);
    }
  }
  for (int i = 0; i < MOST; i++) {
    TF_DeleteTensor(input_values[i]);
    TF_DeleteTensor(results[i]);
  }
  TF_DeleteSession(session, f->status);
}

static void check_step(const Json *step, Arena *arena) {
  const Json *run = json_get(json_get(step, "expect"), "run");
  Fixture first = {0}, second = {0};
  REQUIRE(begin(&first) && begin(&second));
  TF_Buffer *bytes = graph_of_text(json_get(step, "graphdef")->string, arena);
  TF_GraphImportGraphDef(first.graph, bytes, NULL, first.status);
  CHECK_TF_OK(first.status);
  TF_DeleteBuffer(bytes);
  bytes = graph_bytes(&first, first.graph);
  TF_GraphImportGraphDef(second.graph, bytes, NULL, second.status);
  if (CHECK_TF_OK(second.status)) run_fact(&second, run);
  TF_DeleteBuffer(bytes);
  end(&first);
  end(&second);
}

TEST(graphs_of_facts_run) {
  FILE *file = fopen("tests/data/facts/import.jsonl", "rb");
  REQUIRE(file);
  char *line = NULL;
  size_t capacity = 0;
  int runs = 0, number = 0;
  for (ssize_t length; (length = getline(&line, &capacity, file)) >= 0;) {
    number++;
    if (!strstr(line, "\"run\"")) continue;
    Arena *arena = arena_new();
    const Json *record = json_parse(arena, line, (size_t)length);
    const Json *steps = json_get(record, "steps");
    CHECK_CONTEXT("line %d", number);
    for (int i = 0; CHECK(steps) && i < steps->count; i++) {
      if (!json_get(json_get(&steps->items[i], "expect"), "run")) continue;
      check_step(&steps->items[i], arena);
      runs++;
    }
    arena_free(arena);
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(runs, 2);
  free(line);
  fclose(file);
}
