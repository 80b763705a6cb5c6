/* Shapes that TensorFlow 2.21 infers for random nodes, or its refusal: tests/data/oracle/graph_shapes.txt and
 * loop_shapes.txt, written by tests/oracle/graph_shapes.py and loop_shapes.py. A line is a GraphDef in hex, a
 * tab, and the outputs of its node `node` ("S [2,?] ?") or "E". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "harness.h"
#include "tensorflow/c/c_api.h"

static size_t from_hex(const char *hex, size_t length, char *bytes) {
  for (size_t i = 0; i + 1 < length; i += 2) {
    char digits[3] = {hex[i], hex[i + 1], '\0'};
    bytes[i / 2] = (char)strtol(digits, NULL, 16);
  }
  return length / 2;
}

static void print_output(TF_Graph *graph, TF_Output output, StrBuf *text) {
  int64_t dims[256];
  TF_Status *status = TF_NewStatus();
  int rank = TF_GraphGetTensorNumDims(graph, output, status);
  strbuf_append(text, rank < 0 ? " ?" : " [");
  TF_GraphGetTensorShape(graph, output, dims, rank < 0 ? 0 : rank, status);
  for (int d = 0; d < rank; d++) {
    if (d > 0) strbuf_append_char(text, ',');
    if (dims[d] < 0) strbuf_append_char(text, '?');
    else strbuf_printf(text, "%lld", (long long)dims[d]);
  }
  if (rank >= 0) strbuf_append_char(text, ']');
  TF_DeleteStatus(status);
}

static void check_graph(const char *bytes, size_t length, const char *want) {
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Buffer *def = TF_NewBufferFromString(bytes, length);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  StrBuf text = {0};
  TF_GraphImportGraphDef(graph, def, options, status);
  if (TF_GetCode(status) != TF_OK) {
    CHECK_CONTEXT("%s", TF_Message(status));
    strbuf_append_char(&text, 'E');
  } else {
    TF_Operation *node = TF_GraphOperationByName(graph, "node");
    CHECK_CONTEXT("%s", TF_OperationOpType(node));
    strbuf_append_char(&text, 'S');
    for (int i = 0; i < TF_OperationNumOutputs(node); i++) print_output(graph, (TF_Output){node, i}, &text);
  }
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(def);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void check_file(const char *path, int at_least) {
  enum { MAX_LINE = 16384 };
  static char line[MAX_LINE], bytes[MAX_LINE];
  FILE *stream = fopen(path, "rb");
  int count = 0;
  REQUIRE(stream);
  for (; fgets(line, sizeof line, stream); count++) {
    char *tab = strchr(line, '\t');
    if (!CHECK(tab)) break;
    tab[strcspn(tab, "\n")] = '\0';
    check_graph(bytes, from_hex(line, (size_t)(tab - line), bytes), tab + 1);
  }
  fclose(stream);
  CHECK(count >= at_least);
  CHECK_CONTEXT("%s", "");
}

TEST(inferred_shapes_are_tensorflows) { check_file("tests/data/oracle/graph_shapes.txt", 300); }

TEST(inferred_shapes_of_loops_are_tensorflows) { check_file("tests/data/oracle/loop_shapes.txt", 60); }
