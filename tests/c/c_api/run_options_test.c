/* RunOptions, RunMetadata and ConfigProto.experimental as bytes. */
#include <stdio.h>

#include "c_api/c_api_fixture.h"
#include "proto/step_stats_protos.h"

typedef struct Run {
  Fixture f;
  TF_Session *session;
  TF_Output y; /* Neg of a placeholder `x` */
  TF_Output x;
  Arena *arena;
  RunMetadata *metadata; /* of the last run, if that succeeded */
} Run;

static bool begin_run(Run *r, const char *config, size_t length) {
  *r = (Run){.arena = arena_new()};
  if (!r->arena || !begin(&r->f)) return false;
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetConfig(options, config, length, r->f.status);
  r->x = placeholder_of(&r->f, "x", TF_FLOAT, 0, NULL);
  TF_OperationDescription *desc = TF_NewOperation(r->f.graph, "Neg", "y");
  TF_AddInput(desc, r->x);
  r->y = (TF_Output){TF_FinishOperation(desc, r->f.status), 0};
  r->session = TF_NewSession(r->f.graph, options, r->f.status);
  TF_DeleteSessionOptions(options);
  return CHECK_TF_OK(r->f.status);
}

static void end_run(Run *r) {
  TF_DeleteSession(r->session, r->f.status);
  arena_free(r->arena);
  end(&r->f);
}

static void run_with(Run *r, const char *bytes, size_t length) {
  TF_Buffer options = {bytes, length, NULL}, *metadata = TF_NewBuffer();
  TF_Tensor *value = tensor_of(TF_FLOAT, 0, NULL, &(float){3}, sizeof(float)), *result = NULL;
  TF_SessionRun(r->session, &options, &r->x, &value, 1, &r->y, &result, 1, NULL, 0, metadata, r->f.status);
  r->metadata = NULL;
  if (TF_GetCode(r->f.status) == TF_OK) {
    Status status;
    void *parsed = NULL;
    status_init(&status);
    CHECK_OK(proto_parse(kRunMetadata, metadata->data, metadata->length, r->arena, &parsed, &status), status);
    r->metadata = parsed;
    CHECK(*(float *)TF_TensorData(result) == -3);
  }
  TF_DeleteTensor(result);
  TF_DeleteTensor(value);
  TF_DeleteBuffer(metadata);
}

TEST(only_a_trace_level_gives_step_stats) {
  Run r;
  REQUIRE(begin_run(&r, "", 0));
  run_with(&r, "", 0);
  if (CHECK(r.metadata)) CHECK(!r.metadata->step_stats && r.metadata->n_partition_graphs == 0);
  for (char level = 1; level <= 3; level++) {
    const char options[] = {'\x08', level};
    run_with(&r, options, sizeof options);
    if (!CHECK(r.metadata && r.metadata->step_stats && r.metadata->step_stats->n_dev_stats == 1)) continue;
    const DeviceStepStats *device = r.metadata->step_stats->dev_stats[0];
    if (CHECK_INT_EQ(device->n_node_stats, 4)) {
      CHECK_STR_EQ(device->node_stats[2]->timeline_label, "y = Neg(_arg_x_0_0)");
      CHECK_STR_EQ(device->node_stats[3]->timeline_label, "_retval_y_0_0 = _Retval(y)");
    }
  }
  end_run(&r);
}

/* As TensorFlow's: one graph for the device, whose nodes have its name. */
TEST(partition_graphs_are_the_graphs_that_run) {
  Run r;
  REQUIRE(begin_run(&r, "", 0));
  run_with(&r, "\x28\x01", 2);
  if (CHECK(r.metadata && r.metadata->n_partition_graphs == 1)) {
    const GraphDef *graph = r.metadata->partition_graphs[0];
    const char *names[] = {"_arg_x_0_0", "y", "_retval_y_0_0"};
    CHECK(!r.metadata->step_stats);
    REQUIRE(graph->n_node == 3);
    for (int i = 0; i < 3; i++) {
      size_t at = 0;
      while (at < 3 && strcmp(graph->node[at]->name, names[i]) != 0) at++;
      if (CHECK(at < 3))
        CHECK_STR_EQ(graph->node[at]->device, "/job:localhost/replica:0/task:0/device:CPU:0");
    }
  }
  end_run(&r);
  /* experimental { disable_output_partition_graphs: true } */
  REQUIRE(begin_run(&r, "\x82\x01\x02\x70\x01", 5));
  run_with(&r, "\x28\x01", 2);
  CHECK_TF_ERROR(r.f.status, TF_INVALID_ARGUMENT,
                 "RunOptions.output_partition_graphs() is not supported when disable_output_partition_graphs "
                 "is true.");
  run_with(&r, "", 0);
  CHECK_TF_OK(r.f.status);
  end_run(&r);
}

TEST(thread_pools_are_those_of_the_session_or_the_caller) {
  /* session_inter_op_thread_pool { } session_inter_op_thread_pool { num_threads: 3 } */
  static const char kPools[] = "\x62\x00\x62\x02\x08\x03";
  for (int pools = 1; pools <= 2; pools++) {
    Run r;
    REQUIRE(begin_run(&r, pools == 1 ? "" : kPools, pools == 1 ? 0 : sizeof kPools - 1));
    for (int pool = -2; pool <= 3; pool++) {
      char options[11] = {'\x18', (char)pool}, message[64];
      size_t length = 2;
      if (pool < 0) { /* ten bytes of a negative number */
        options[1] = (char)(0x80 | (pool & 0x7f));
        memset(options + 2, 0xff, 8);
        options[10] = 1;
        length = 11;
      }
      run_with(&r, options, length);
      if (pool >= -1 && pool < pools) {
        CHECK_TF_OK(r.f.status);
      } else {
        snprintf(message, sizeof message, "Invalid inter_op_thread_pool: %d", pool);
        CHECK_TF_ERROR(r.f.status, TF_INVALID_ARGUMENT, message);
      }
    }
    end_run(&r);
  }
}

TEST(a_static_graph_cannot_grow) {
  Run r;
  /* experimental { optimize_for_static_graph: true } */
  REQUIRE(begin_run(&r, "\x82\x01\x02\x60\x01", 5));
  run_with(&r, "", 0);
  CHECK_TF_OK(r.f.status);
  TF_ExtendSession(r.session, r.f.status);
  CHECK_TF_OK(r.f.status);
  placeholder_of(&r.f, "later", TF_FLOAT, 0, NULL);
  for (int extend = 0; extend < 2; extend++) {
    if (extend) {
      TF_ExtendSession(r.session, r.f.status);
    } else {
      run_with(&r, "", 0);
    }
    CHECK_TF_ERROR(r.f.status, TF_FAILED_PRECONDITION,
                   "Extending the graph is not supported when `optimize_for_static_graph` is true.");
  }
  end_run(&r);
  /* disable_optimize_for_static_graph: true takes precedence. */
  REQUIRE(begin_run(&r, "\x82\x01\x05\x60\x01\xc0\x01\x01", 8));
  run_with(&r, "", 0);
  placeholder_of(&r.f, "later", TF_FLOAT, 0, NULL);
  run_with(&r, "", 0);
  CHECK_TF_OK(r.f.status);
  end_run(&r);
}

TEST(executor_types_are_known) {
  static const struct {
    const char *config;
    size_t length;
  } kTypes[] = {{"\x82\x01\x09\x1a\x07"
                 "DEFAULT",
                 12},
                {"\x82\x01\x06\x1a\x04NOPE", 9}};
  for (int i = 0; i < 2; i++) {
    Run r;
    REQUIRE(begin_run(&r, kTypes[i].config, kTypes[i].length));
    run_with(&r, "", 0);
    if (i == 0) {
      CHECK_TF_OK(r.f.status);
    } else {
      CHECK_TF_ERROR(r.f.status, TF_NOT_FOUND,
                     "No executor factory registered for the given executor type: NOPE Registered factories "
                     "are {DEFAULT, , SINGLE_THREADED_EXECUTOR}.");
    }
    end_run(&r);
  }
}
