/* Stacks and TensorArrays in sessions: they and their tensors live for one step, whether it succeeds or
 * fails. The leak checker reports memory that a step did not free. */
#include "runtime/control_flow_text.h"
#include "shortage.h"

#define NUMBERS "zero Const ; int=0\none Const ; int=1\ntwo Const ; int=2\n"
#define HALF "half Const ; float=0.5\n"
/* An array of two elements. One of them is written. */
#define ARRAY                                                             \
  NUMBERS HALF                                                            \
      "array TensorArrayV3 two ; dtype=DT_FLOAT\n"                        \
      "written TensorArrayWriteV3 array zero half array:1 ; T=DT_FLOAT\n" \
      "read TensorArrayReadV3 array zero written ; dtype=DT_FLOAT\n"      \
      "beyond TensorArrayReadV3 array one written ; dtype=DT_FLOAT\n"
#define STACK                                    \
  NUMBERS HALF                                   \
      "stack StackV2 two ; elem_type=DT_FLOAT\n" \
      "first StackPushV2 stack half ; T=DT_FLOAT\n"

static bool begin_lines(Fixture *f, const char *lines) {
  return begin(f) && CHECK_OK(import_lines(f->graph, lines, &f->status), f->status);
}

static NodeOutput named(const Fixture *f, const char *name) { return out(graph_find_node(f->graph, name)); }

static bool fetch(Fixture *f, const char *name, Tensor *value) {
  NodeOutput output = named(f, name);
  tensor_clear(value);
  return CHECK(output.node) && session_run(f->session, NULL, NULL, 0, &output, value, 1, NULL, 0, &f->status);
}

static void gives(Fixture *f, const char *name, float want) {
  Tensor value = {0};
  if (CHECK_OK(fetch(f, name, &value), f->status)) CHECK_NEAR(tensor_f32(&value)[0], want, 0);
  tensor_clear(&value);
}

static void fails(Fixture *f, const char *name, const char *words) {
  Tensor value = {0};
  CHECK_ERROR(fetch(f, name, &value), f->status, CODE_INVALID_ARGUMENT, words);
  status_init(&f->status);
}

TEST(every_step_has_arrays_and_stacks_of_its_own) {
  Fixture f;
  if (begin_lines(&f, STACK "popped StackPopV2 stack ^first ; elem_type=DT_FLOAT\n"
                            "more StackPushV2 stack half ^first ; T=DT_FLOAT\n"
                            "most StackPushV2 stack half ^more ; T=DT_FLOAT\n")) {
    gives(&f, "popped", 0.5f);
    fails(&f, "most", "overflowed its max_size (2)");
    gives(&f, "more", 0.5f);
    gives(&f, "more", 0.5f);
  }
  end(&f);
  if (begin_lines(&f, ARRAY)) {
    gives(&f, "read", 0.5f);
    fails(&f, "beyond", "Could not read from TensorArray index 1.");
    gives(&f, "read", 0.5f);
  }
  end(&f);
}

/* A handle may outlive its step. Its stack or array is closed at the end of the step. */
TEST(what_a_step_left_cannot_be_used_in_another) {
  Fixture f;
  Tensor handle = {0}, value = {0};
  if (begin_lines(&f, ARRAY) && CHECK_OK(fetch(&f, "array", &handle), f.status)) {
    const Tensor *fed = &handle;
    NodeOutput feed = named(&f, "array"), size;
    Attr none;
    NodeOutput inputs[] = {feed, named(&f, "half")};
    size = out(add_node(f.graph, "TensorArraySizeV3", "size", inputs, 2, &none, 0));
    CHECK_ERROR(session_run(f.session, &feed, &fed, 1, &size, &value, 1, NULL, 0, &f.status), f.status,
                CODE_INVALID_ARGUMENT, "has already been closed.");
  }
  tensor_clear(&handle);
  tensor_clear(&value);
  end(&f);
}

TEST(what_holds_its_own_handle_ends_with_its_step) {
  Fixture f;
  if (begin_lines(&f, NUMBERS HALF "array TensorArrayV3 two ; dtype=DT_RESOURCE\n"
                                   "written TensorArrayWriteV3 array zero array array:1 ; T=DT_RESOURCE\n"
                                   "stack StackV2 two ; elem_type=DT_RESOURCE\n"
                                   "a StackPushV2 stack array ; T=DT_RESOURCE\n"
                                   "b StackPushV2 stack stack ^a ; T=DT_RESOURCE\n"
                                   "c StackPushV2 stack stack ^b ; T=DT_RESOURCE\n")) {
    CHECK_OK(run_target(&f, graph_find_node(f.graph, "written")), f.status);
    CHECK_OK(run_target(&f, graph_find_node(f.graph, "b")), f.status);
    fails(&f, "c", "overflowed its max_size (2)");
  }
  end(&f);
}

TEST(abort_ends_the_step_alone) {
  Fixture f;
  if (begin_lines(&f, NUMBERS HALF "array TensorArrayV3 two ; dtype=DT_FLOAT\n"
                                   "abort Abort ^array ; error_msg='wanted'\n"
                                   "quiet Abort ; exit_without_error=true\n")) {
    CHECK_ERROR(run_target(&f, graph_find_node(f.graph, "abort")), f.status, CODE_ABORTED,
                "Abort_op intentional failure; wanted");
    status_init(&f.status);
    CHECK_ERROR(run_target(&f, graph_find_node(f.graph, "quiet")), f.status, CODE_ABORTED,
                "Abort_op exits without an error");
    status_init(&f.status);
    gives(&f, "half", 0.5f);
  }
  end(&f);
}

TEST(arrays_and_stacks_run_short_of_memory) {
  Shortage shortage = {.what = "arrays and stacks"};
  do {
    Fixture f;
    Tensor value = {0};
    if (begin_lines(&f, ARRAY "stack StackV2 two ; elem_type=DT_FLOAT\n"
                              "pushed StackPushV2 stack read ; T=DT_FLOAT\n"
                              "popped StackPopV2 stack ^pushed ; elem_type=DT_FLOAT\n"
                              "slopes TensorArrayGradV3 array written ; source='g'\n"
                              "w TensorArrayWriteV3 slopes one popped slopes:1 ; T=DT_FLOAT\n"
                              "ww TensorArrayWriteV3 slopes one half w ; T=DT_FLOAT\n"
                              "sum TensorArrayReadV3 slopes one ww ; dtype=DT_FLOAT\n")) {
      shortage_begin(&shortage);
      bool ok = fetch(&f, "sum", &value);
      shortage_end(&shortage, ok, f.status.code);
      if (ok) CHECK_NEAR(tensor_f32(&value)[0], 1, 0);
      tensor_clear(&value);
    }
    end(&f);
  } while (shortage_next(&shortage));
}
