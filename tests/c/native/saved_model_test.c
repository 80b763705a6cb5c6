/* What TF_LoadSessionFromSavedModel does where TensorFlow gives no answer: graphs with ops that are not
 * registered, damaged files, and memory that runs out. The rest is in saved_model_transcript.c. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "c_api/c_api_internal.h"
#include "harness.h"
#include "runtime/thread_pool.h"
#include "shortage.h"

#define MODEL "tests/data/models/saved_models/legacy_init_op/"

AFTER_EACH() {
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
}

static const char kCopy[] = "ram://saved_model_copy";
static const char *const kFiles[] = {"saved_model.pb", "variables/variables.index",
                                     "variables/variables.data-00000-of-00001"};

/* Copies the model to memory; in its graph `text` is replaced by another one of the same length. */
static void copy_model(const char *text, const char *replacement) {
  for (int i = 0; i < 3; i++) {
    char from[1024], to[256], *bytes;
    int64_t size;
    Status status;
    status_init(&status);
    snprintf(from, sizeof from, MODEL "%s", kFiles[i]);
    snprintf(to, sizeof to, "%s/%s", kCopy, kFiles[i]);
    CHECK(file_read_all(from, INT32_MAX, &bytes, &size, &status));
    for (int64_t at = 0; i == 0 && text && at + (int64_t)strlen(text) <= size; at++) {
      if (memcmp(bytes + at, text, strlen(text)) == 0) memcpy(bytes + at, replacement, strlen(text));
    }
    CHECK(kMemoryFiles.write(to, false, bytes, size, &status));
    mem_free(bytes);
  }
}

typedef struct Loaded {
  TF_Status *status;
  TF_Graph *graph;
  TF_Session *session;
} Loaded;

static Loaded load(void) {
  static const char *const tags[] = {"serve"};
  TF_SessionOptions *options = TF_NewSessionOptions();
  Loaded loaded = {TF_NewStatus(), TF_NewGraph(), NULL};
  loaded.session =
      TF_LoadSessionFromSavedModel(options, NULL, kCopy, tags, 1, loaded.graph, NULL, loaded.status);
  TF_DeleteSessionOptions(options);
  return loaded;
}

static void unload(Loaded *loaded) {
  if (loaded->session) TF_DeleteSession(loaded->session, loaded->status);
  TF_DeleteGraph(loaded->graph);
  TF_DeleteStatus(loaded->status);
  file_memory_clear();
}

static int num_operations(TF_Graph *graph) {
  size_t position = 0;
  int count = 0;
  while (TF_GraphNextOperation(graph, &position)) count++;
  return count;
}

TEST(nodes_of_unknown_ops_that_nothing_needs_are_left_out) {
  copy_model("WholeFileReaderV2", "NoSuchReaderTypeX");
  Loaded loaded = load();
  CHECK_INT_EQ(TF_GetCode(loaded.status), TF_OK);
  CHECK(loaded.session);
  CHECK(!TF_GraphOperationByName(loaded.graph, "WholeFileReaderV2"));
  CHECK(!TF_GraphOperationByName(loaded.graph, "records_read"));
  CHECK(TF_GraphOperationByName(loaded.graph, "y"));
  unload(&loaded);
}

TEST(restoring_with_an_unknown_op_names_the_op_and_leaves_the_graph_empty) {
  copy_model("RestoreV2", "RestoreV9");
  Loaded loaded = load();
  CHECK_INT_EQ(TF_GetCode(loaded.status), TF_NOT_FOUND);
  CHECK(strstr(TF_Message(loaded.status), "Op type not registered 'RestoreV9'"));
  CHECK(!loaded.session);
  CHECK_INT_EQ(num_operations(loaded.graph), 0);
  unload(&loaded);
}

TEST(initializing_with_an_unknown_op_names_the_op_and_leaves_the_graph_empty) {
  copy_model("AssignVariableOp", "AssignVariableNo");
  Loaded loaded = load();
  CHECK_INT_EQ(TF_GetCode(loaded.status), TF_NOT_FOUND);
  CHECK(strstr(TF_Message(loaded.status), "AssignVariableNo"));
  CHECK_INT_EQ(num_operations(loaded.graph), 0);
  unload(&loaded);
}

TEST(a_graph_can_be_loaded_after_a_failure) {
  copy_model("RestoreV2", "RestoreV9");
  Loaded loaded = load();
  static const char *const tags[] = {"serve"};
  TF_SessionOptions *options = TF_NewSessionOptions();
  copy_model(NULL, NULL);
  loaded.session =
      TF_LoadSessionFromSavedModel(options, NULL, kCopy, tags, 1, loaded.graph, NULL, loaded.status);
  CHECK_INT_EQ(TF_GetCode(loaded.status), TF_OK);
  TF_DeleteSessionOptions(options);
  unload(&loaded);
}

/* Every prefix of the file is refused, or is a model whose graph is incomplete: no crash, and no leak. */
TEST(a_truncated_saved_model_is_an_error) {
  char path[256], *bytes;
  int64_t size;
  Status status;
  status_init(&status);
  copy_model(NULL, NULL);
  snprintf(path, sizeof path, "%s/saved_model.pb", kCopy);
  CHECK(file_read_all(path, INT32_MAX, &bytes, &size, &status));
  for (int64_t length = 0; length < size; length += 97) {
    copy_model(NULL, NULL);
    CHECK(kMemoryFiles.write(path, false, bytes, length, &status));
    Loaded loaded = load();
    CHECK(TF_GetCode(loaded.status) != TF_OK);
    CHECK_INT_EQ(num_operations(loaded.graph), 0);
    unload(&loaded);
  }
  mem_free(bytes);
}

TEST(loading_without_enough_memory_leaves_nothing_behind) {
  Shortage shortage = {.what = "loading a SavedModel", .most = 60};
  copy_model(NULL, NULL);
  static const char *const tags[] = {"serve"};
  do {
    Loaded loaded = {TF_NewStatus(), TF_NewGraph(), NULL};
    TF_SessionOptions *options = TF_NewSessionOptions();
    shortage_begin(&shortage);
    loaded.session =
        TF_LoadSessionFromSavedModel(options, NULL, kCopy, tags, 1, loaded.graph, NULL, loaded.status);
    shortage_end(&shortage, loaded.session, (Code)TF_GetCode(loaded.status));
    if (!loaded.session) CHECK_INT_EQ(num_operations(loaded.graph), 0);
    else TF_DeleteSession(loaded.session, loaded.status);
    TF_DeleteSessionOptions(options);
    TF_DeleteGraph(loaded.graph);
    TF_DeleteStatus(loaded.status);
  } while (shortage_next(&shortage));
  file_memory_clear();
}
