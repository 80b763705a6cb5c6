/* Steps whose nodes are on several devices: the errors of one part, values that nothing sends, loops that one
 * part does not end, and sessions that stay usable. That values are right is checked with TensorFlow's
 * results in golden_devices_test.c. */
#include "device/device.h"
#include "runtime/control_flow_text.h"
#include "runtime/step_trace.h"
#include "shortage.h"

enum { NUM_DEVICES = 3 };

static bool begin_devices(Fixture *f, DeviceSet **devices, const char *lines) {
  *devices = NULL;
  if (!begin(f) || !CHECK_OK(device_set_new(LOCAL_TASK, NUM_DEVICES, devices, &f->status), f->status))
    return false;
  const PlacerOptions options = {.devices = *devices};
  session_place(f->session, &options);
  return CHECK_OK(import_lines(f->graph, lines, &f->status), f->status);
}

static void end_devices(Fixture *f, DeviceSet *devices) {
  end(f);
  device_set_unref(devices);
}

static NodeOutput named(const Fixture *f, const char *name) { return out(graph_find_node(f->graph, name)); }

static bool fetch(Fixture *f, const char *name, Tensor *value) {
  NodeOutput output = named(f, name);
  *value = (Tensor){0};
  return CHECK(output.node) && session_run(f->session, NULL, NULL, 0, &output, value, 1, NULL, 0, &f->status);
}

static void gives(Fixture *f, const char *name, int32_t want) {
  Tensor value;
  CHECK_CONTEXT("%s", name);
  if (CHECK_OK(fetch(f, name, &value), f->status)) CHECK_INT_EQ(*tensor_i32(&value), want);
  tensor_clear(&value);
  CHECK_CONTEXT("%s", "");
}

static void fails(Fixture *f, const char *name, Code code, const char *message) {
  Tensor value;
  CHECK_ERROR(fetch(f, name, &value), f->status, code, message);
  status_init(&f->status);
}

/* `limit` rounds in which a sum on device 1 adds the counter of device 0. Its names begin with `p`. */
/* clang-format off */
#define SUM(p, limit)                                                        \
  p "zero Const @0 ; int=0\n"                                                \
  p "limit Const @0 ; int=" limit "\n"                                       \
  p "e Enter " p "zero @0 ; T=DT_INT32 frame_name='" p "f'\n"                \
  p "m Merge " p "e " p "n @0 ; T=DT_INT32 N=2\n"                            \
  p "le Enter " p "limit @0 ; T=DT_INT32 frame_name='" p "f' is_constant=true\n" \
  p "l Less " p "m " p "le @0 ; T=DT_INT32\n"                                \
  p "c LoopCond " p "l @0\n"                                                 \
  p "s Switch " p "m " p "c @0 ; T=DT_INT32\n"                               \
  p "k Const ^" p "s @0 ; int=1\n"                                           \
  p "a Add " p "s:1 " p "k @0 ; T=DT_INT32\n"                                \
  p "n NextIteration " p "a @0 ; T=DT_INT32\n"                               \
  p "te Enter " p "zero @1 ; T=DT_INT32 frame_name='" p "f'\n"               \
  p "tm Merge " p "te " p "tn @1 ; T=DT_INT32 N=2\n"                         \
  p "ts Switch " p "tm " p "c @1 ; T=DT_INT32\n"                             \
  p "ta Add " p "ts:1 " p "s:1 @1 ; T=DT_INT32\n"                            \
  p "tn NextIteration " p "ta @1 ; T=DT_INT32\n"                             \
  p "tx Exit " p "ts @1 ; T=DT_INT32\n"
/* clang-format on */

TEST(a_loop_crosses_devices_in_every_round) {
  Fixture f;
  DeviceSet *devices;
  if (begin_devices(&f, &devices, SUM("", "5000") SUM("none_", "0"))) {
    for (int i = 0; i < 3; i++) {
      gives(&f, "tx", 12497500);
      gives(&f, "none_tx", 0);
    }
  }
  end_devices(&f, devices);
}

TEST(a_branch_that_is_dead_sends_dead_values_also_from_its_loops) {
  Fixture f;
  DeviceSet *devices;
  /* The loop's start is dead, so its result is, and the Merge takes the other value. */
  if (begin_devices(&f, &devices,
                    "p Const @2 ; bool=false\nseven Const @1 ; int=7\n"
                    "start Const @0 ; int=0\n"
                    "in Switch start p @0 ; T=DT_INT32\n"
                    "limit Const @0 ; int=3\n"
                    "e Enter in:1 @0 ; T=DT_INT32 frame_name='f'\n"
                    "m Merge e n @0 ; T=DT_INT32 N=2\n"
                    "le Enter limit @0 ; T=DT_INT32 frame_name='f' is_constant=true\n"
                    "l Less m le @0 ; T=DT_INT32\n"
                    "c LoopCond l @0\n"
                    "s Switch m c @0 ; T=DT_INT32\n"
                    "k Const ^s @1 ; int=1\n"
                    "a Add s:1 k @1 ; T=DT_INT32\n"
                    "b Add a k @2 ; T=DT_INT32\n"
                    "n NextIteration b @0 ; T=DT_INT32\n"
                    "x Exit s @0 ; T=DT_INT32\n"
                    "out Switch seven p @1 ; T=DT_INT32\n"
                    "y Merge x out @2 ; T=DT_INT32 N=2\n")) {
    gives(&f, "y", 7);
    gives(&f, "y", 7);
  }
  end_devices(&f, devices);
}

#define BAD_INDEX                                                                        \
  "five Const @2 ; int=5\nlist Pack five five @2 ; T=DT_INT32 N=2\n"                     \
  "bad GatherV2 list five axis @2 ; Tparams=DT_INT32 Tindices=DT_INT32 Taxis=DT_INT32\n" \
  "axis Const @2 ; int=0\n"

TEST(the_error_of_one_device_ends_the_others) {
  Fixture f;
  DeviceSet *devices;
  /* The loop of devices 0 and 1 would take hours. */
  if (begin_devices(&f, &devices,
                    SUM("", "2000000000") BAD_INDEX "both Add tx bad @0 ; T=DT_INT32\n" SUM("ok_", "4"))) {
    fails(&f, "both", CODE_INVALID_ARGUMENT, "indices = 5 is not in [0, 2)");
    gives(&f, "ok_tx", 6);
    gives(&f, "five", 5);
  }
  end_devices(&f, devices);
}

TEST(a_step_of_several_devices_ends_at_its_deadline) {
  Fixture f;
  DeviceSet *devices;
  if (begin_devices(&f, &devices, SUM("", "2000000000") SUM("ok_", "4"))) {
    session_set_timeout(f.session, 30);
    fails(&f, "tx", CODE_DEADLINE_EXCEEDED, "Timed out waiting for notification");
    session_set_timeout(f.session, 0);
    gives(&f, "ok_tx", 6);
  }
  end_devices(&f, devices);
}

TEST(a_step_of_several_devices_can_pause_and_be_abandoned) {
  Fixture f;
  DeviceSet *devices;
  if (begin_devices(&f, &devices, SUM("", "2000000000") SUM("ok_", "3000"))) {
    SessionStep *step;
    Tensor value = {0};
    CHECK_INT_EQ(start_step(f.session, NULL, NULL, NULL, named(&f, "tx"), 5, &value, &step, &f.status),
                 RUN_WAITING);
    CHECK_INT_EQ(session_advance(step, 5, &value, &f.status), RUN_WAITING);
    session_abandon(step);
    RunState state = start_step(f.session, NULL, NULL, NULL, named(&f, "ok_tx"), 1, &value, &step, &f.status);
    while (state == RUN_WAITING) state = session_advance(step, 1, &value, &f.status);
    if (CHECK_INT_EQ(state, RUN_DONE)) CHECK_INT_EQ(*tensor_i32(&value), 4498500);
    tensor_clear(&value);
  }
  end_devices(&f, devices);
}

#define EDGE(op, type, name)                                     \
  " ; " type "=DT_INT32 tensor_name='" name                      \
  "' send_device='/job:localhost/replica:0/task:0/device:CPU:0'" \
  " send_device_incarnation=1 recv_device='/job:localhost/replica:0/task:0/device:CPU:1'\n"

TEST(a_value_that_nothing_sends_is_an_error) {
  for (int i = 0; i < 2; i++) {
    Fixture f;
    DeviceSet *devices = NULL;
    static const char kLines[] =
        "five Const ; int=5\nsent _Send five" EDGE("_Send", "T", "a") "got _Recv" EDGE(
            "_Recv", "tensor_type", "a") "none _Recv" EDGE("_Recv", "tensor_type",
                                                           "b") "sum Add none five ; T=DT_INT32\n";
    bool ok = i == 0 ? begin_devices(&f, &devices, kLines)
                     : begin(&f) && CHECK_OK(import_lines(f.graph, kLines, &f.status), f.status);
    if (ok) {
      fails(&f, "sum", CODE_INVALID_ARGUMENT,
            "No node of this step sends the value that {{node none}} receives");
      CHECK_OK(run_target(&f, graph_find_node(f.graph, "sent")), f.status); /* its value is dropped */
      Node *sent = graph_find_node(f.graph, "sent");
      NodeOutput got = named(&f, "got");
      Tensor value = {0};
      if (CHECK_OK(session_run(f.session, NULL, NULL, 0, &got, &value, 1, &sent, 1, &f.status), f.status))
        CHECK_INT_EQ(*tensor_i32(&value), 5);
      tensor_clear(&value);
      fails(&f, "got", CODE_INVALID_ARGUMENT, "{{node got}}");
      gives(&f, "five", 5);
    }
    end_devices(&f, devices);
  }
}

/* A value from device 0 to device 1, sent and received by functions that are not inlined. */
#define FUNCTION_EDGE(op, type, name)                                     \
  op "[" type "=int32, tensor_name=\"" name                               \
     "\", send_device=\"/job:localhost/replica:0/task:0/device:CPU:0\", " \
     "send_device_incarnation=1, recv_device=\"/job:localhost/replica:0/task:0/device:CPU:1\"]"
static const char kEnds[] =
    "Put(x:int32) -> (y:int32) {\n"
    "  s = " FUNCTION_EDGE("_Send", "T", "v") "(x)\n"
    "  y = Identity[T=int32](x) @ s\n"
    "  return y = y:output:0\n"
    "}\n"
    "Take(x:int32) -> (y:int32) {\n"
    "  r = " FUNCTION_EDGE("_Recv", "tensor_type", "v") "()\n"
    "  y = Add[T=int32](x, r:tensor:0)\n"
    "  return y = y:z:0\n"
    "}\n"
    "Outer(x:int32) -> (y:int32) {\n"
    "  y = Take(x)\n"
    "  return y = y:y:0\n"
    "}\n";

static bool begin_ends(Fixture *f, DeviceSet **devices) {
  if (!begin_devices(f, devices, "nothing NoOp\n")) return false;
  session_optimize(f->session, false);
  return define(f->graph, kEnds) && CHECK_OK(import_lines(f->graph,
                                                          "five Const @0 ; int=5\n"
                                                          "nine Const @1 ; int=9\n"
                                                          "put Put five @0\n"
                                                          "take Outer nine @1\n"
                                                          "sum Add put take @2 ; T=DT_INT32\n",
                                                          &f->status),
                                             f->status);
}

TEST(functions_send_and_receive_the_values_of_their_step) {
  Fixture f;
  DeviceSet *devices;
  if (begin_ends(&f, &devices)) {
    for (int i = 0; i < 3; i++) gives(&f, "sum", 19);
    fails(&f, "take", CODE_INVALID_ARGUMENT, "No node of this step sends the value");
    gives(&f, "sum", 19);
  }
  end_devices(&f, devices);
}

TEST(a_function_that_waits_in_one_part_is_refused_and_its_step_can_be_abandoned) {
  Fixture f;
  DeviceSet *devices = NULL;
  if (begin(&f) && define(f.graph, kEnds) &&
      CHECK_OK(import_lines(f.graph, "nine Const ; int=9\ntake Outer nine\n", &f.status), f.status)) {
    session_optimize(f.session, false);
    fails(&f, "take", CODE_INVALID_ARGUMENT, "No node of this step sends the value that {{node r}} receives");
    gives(&f, "nine", 9);
  }
  end_devices(&f, devices);
}

TEST(nodes_of_functions_are_traced_on_the_device_of_their_caller) {
  Fixture f;
  DeviceSet *devices;
  if (begin_ends(&f, &devices)) {
    Tensor value = {0};
    SessionStep *step;
    StepTrace *trace = step_trace_new();
    const StepStats *stats = NULL;
    const SessionRunOptions options = {.trace = trace};
    RunState state =
        start_step(f.session, &options, NULL, NULL, named(&f, "sum"), 0, &value, &step, &f.status);
    CHECK_OK(state == RUN_DONE && step_trace_stats(trace, &stats, &f.status), f.status);
    int found = 0;
    for (size_t i = 0; stats && i < stats->n_dev_stats; i++) {
      for (size_t k = 0; k < stats->dev_stats[i]->n_node_stats; k++) {
        const char *label = stats->dev_stats[i]->node_stats[k]->timeline_label;
        bool body = strcmp(label, "y = Add(x, r)") == 0, caller = strcmp(label, "take = Outer(nine)") == 0;
        if (body || caller) CHECK_STR_CONTAINS(stats->dev_stats[i]->device, "/device:CPU:1");
        found += body + caller;
      }
    }
    CHECK_INT_EQ(found, 2);
    tensor_clear(&value);
    step_trace_free(trace);
  }
  end_devices(&f, devices);
}

TEST(a_variable_has_one_value_per_device) {
  Fixture f;
  DeviceSet *devices;
#define VARIABLE(p, device, value)                                                                     \
  p "v VarHandleOp " device " ; dtype=DT_INT32 shape=u shared_name='v'\n" p "value Const ; int=" value \
    "\n" p "set AssignVariableOp " p "v " p "value ; dtype=DT_INT32\n" p "get ReadVariableOp " p       \
    "v ; dtype=DT_INT32\n"
  if (begin_devices(&f, &devices,
                    VARIABLE("a", "@0", "3")
                        VARIABLE("b", "@1", "4") "sum Add aget bget @2 ; T=DT_INT32\n")) {
    CHECK_OK(run_target(&f, graph_find_node(f.graph, "aset")), f.status);
    fails(&f, "sum", CODE_FAILED_PRECONDITION, "v");
    CHECK_OK(run_target(&f, graph_find_node(f.graph, "bset")), f.status);
    gives(&f, "sum", 7);
  }
  end_devices(&f, devices);
}

TEST(steps_of_several_devices_run_out_of_memory_without_harm) {
  Shortage shortage = {.what = "a step of several devices", .most = 120};
  do {
    Fixture f;
    DeviceSet *devices;
    Tensor value = {0};
    if (begin_devices(&f, &devices, SUM("", "3"))) {
      shortage_begin(&shortage);
      bool ok = fetch(&f, "tx", &value);
      shortage_end(&shortage, ok, f.status.code);
      if (ok) CHECK_INT_EQ(*tensor_i32(&value), 3);
      tensor_clear(&value);
      status_init(&f.status);
      gives(&f, "tx", 3);
    }
    end_devices(&f, devices);
  } while (shortage_next(&shortage));
}
