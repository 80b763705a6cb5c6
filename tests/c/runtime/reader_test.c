/* Readers between steps of one session: who waits, and whose turn it is. */
#include <string.h>

#include "base/file_store.h"
#include "graph/node_builder.h"
#include "runtime/session_fixture.h"

typedef struct Readers {
  Fixture f;
  NodeOutput key;
  Node *enqueue, *reset;
  const FileStore *before;
} Readers;

static Node *add_enqueue(Graph *graph, const char *op, NodeOutput queue, NodeOutput name) {
  static const DataType string = DT_STRING;
  Status status;
  NodeBuilder b;
  Node *node = NULL;
  status_init(&status);
  node_builder(&b, graph, op, "enqueue");
  node_builder_inputs(&b, (NodeOutput[]){queue, name}, 2);
  node_builder_types(&b, "Tcomponents", &string, 1);
  CHECK_OK(node_builder_finish(&b, &node, &status), status);
  return node;
}

static NodeOutput text_constant(Graph *graph, const char *name, const char *text) {
  char value[128];
  snprintf(value, sizeof value, "tensor { dtype: DT_STRING tensor_shape { } string_val: \"%s\" }", text);
  Attr attrs[] = {{"dtype", "type: DT_STRING"}, {"value", value}};
  return out(add_node(graph, "Const", name, NULL, 0, attrs, 2));
}

static bool write_text(const char *path, const char *text, int64_t length) {
  Status status;
  status_init(&status);
  return CHECK_OK(kMemoryFiles.write(path, false, text, length, &status), status);
}

/* A reader of the kind `op`, and a queue to which a step adds the name of a file with these bytes. */
static bool begin_readers(Readers *r, const char *op, const Attr *attrs, int num_attrs, const char *bytes,
                          int64_t length) {
  static const char kStrings[] = "list { type: DT_STRING }";
  *r = (Readers){.before = file_store()};
  file_store_use(&kMemoryFiles);
  if (!write_text("lines.txt", bytes, length) || !begin(&r->f)) return false;
  Graph *graph = r->f.graph;
  Attr types[] = {{"component_types", kStrings}};
  bool v2 = op[strlen(op) - 1] == '2';
  NodeOutput queue = out(add_node(graph, v2 ? "FIFOQueueV2" : "FIFOQueue", "queue", NULL, 0, types, 1));
  NodeOutput reader = out(add_node(graph, op, "reader", NULL, 0, attrs, num_attrs));
  NodeOutput name = text_constant(graph, "name", "lines.txt");
  r->enqueue = add_enqueue(graph, v2 ? "QueueEnqueueV2" : "QueueEnqueue", queue, name);
  r->key = out(
      add_node(graph, v2 ? "ReaderReadV2" : "ReaderRead", "read", (NodeOutput[]){reader, queue}, 2, NULL, 0));
  r->reset = add_node(graph, v2 ? "ReaderResetV2" : "ReaderReset", "reset", &reader, 1, NULL, 0);
  return true;
}

static void end_readers(Readers *r) {
  end(&r->f);
  file_memory_clear();
  file_store_use(r->before);
}

static RunState start_read(Readers *r, SessionStep **step, Tensor *key) {
  return start_step(r->f.session, NULL, NULL, NULL, r->key, 1000, key, step, &r->f.status);
}

static bool key_is(Tensor *key, const char *wanted) {
  bool is = CHECK_STR_EQ(tstring_view(tensor_strings(key)).data, wanted);
  tensor_clear(key);
  return is;
}

TEST(steps_that_read_wait_for_files_and_for_their_turn) {
  Readers r;
  SessionStep *first, *second;
  Tensor key = {0};
  REQUIRE(begin_readers(&r, "TextLineReaderV2", NULL, 0, "a\nb\nc\n", 6));
  REQUIRE(start_read(&r, &first, &key) == RUN_WAITING);
  CHECK(session_step_is_blocked(first));
  REQUIRE(start_read(&r, &second, &key) == RUN_WAITING);
  CHECK_OK(run_target(&r.f, r.enqueue), r.f.status);
  CHECK_INT_EQ(session_advance(second, 1000, &key, &r.f.status), RUN_WAITING); /* not its turn */
  CHECK_INT_EQ(session_advance(first, 1000, &key, &r.f.status), RUN_DONE);
  key_is(&key, "lines.txt:1");
  CHECK_INT_EQ(session_advance(second, 1000, &key, &r.f.status), RUN_DONE);
  key_is(&key, "lines.txt:2");
  end_readers(&r);
}

TEST(a_step_that_is_abandoned_gives_its_turn_back) {
  Readers r;
  SessionStep *first, *second;
  Tensor key = {0};
  REQUIRE(begin_readers(&r, "TextLineReaderV2", NULL, 0, "a\n", 2));
  REQUIRE(start_read(&r, &first, &key) == RUN_WAITING);
  REQUIRE(start_read(&r, &second, &key) == RUN_WAITING);
  session_abandon(first);
  CHECK_OK(run_target(&r.f, r.enqueue), r.f.status);
  CHECK_INT_EQ(session_advance(second, 1000, &key, &r.f.status), RUN_DONE);
  key_is(&key, "lines.txt:1");
  end_readers(&r);
}

TEST(a_reader_that_is_reset_while_a_step_waits_begins_with_the_next_file) {
  Readers r;
  SessionStep *step;
  Tensor key = {0};
  REQUIRE(begin_readers(&r, "TextLineReaderV2", NULL, 0, "a\nb\n", 4));
  CHECK_OK(run_target(&r.f, r.enqueue), r.f.status);
  CHECK_INT_EQ(start_read(&r, &step, &key), RUN_DONE);
  key_is(&key, "lines.txt:1");
  CHECK_OK(run_target(&r.f, r.reset), r.f.status);
  REQUIRE(start_read(&r, &step, &key) == RUN_WAITING);
  CHECK_OK(run_target(&r.f, r.reset), r.f.status);
  CHECK_OK(run_target(&r.f, r.enqueue), r.f.status);
  CHECK_INT_EQ(session_advance(step, 1000, &key, &r.f.status), RUN_DONE);
  key_is(&key, "lines.txt:1");
  end_readers(&r);
}
