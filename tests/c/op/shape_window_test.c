/* The shape functions for later ops, compared with TensorFlow's facts: its own op definitions with our
 * functions. */
#include "op/shape_window.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "shape_facts.h"
#include "shape_fixture.h"

typedef struct Candidate {
  const char *name;
  ShapeFn shape;
} Candidate;

static const Candidate kCandidates[] = {
    {"AvgPool", shape_avg_pool},
    {"BatchMatMul", shape_batch_matmul},
    {"BatchMatMulV2", shape_batch_matmul_v2},
    {"CheckNumerics", shape_unchanged},
    {"Complex", shape_broadcast_binary},
    {"Conv2D", shape_conv2d},
    {"Conv2DBackpropInput", shape_conv2d_backprop_input},
    {"DepthwiseConv2dNative", shape_depthwise_conv2d},
    {"DivNoNan", shape_broadcast_binary},
    {"FusedBatchNorm", shape_fused_batch_norm},
    {"FusedBatchNormGrad", shape_fused_batch_norm_grad},
    {"GuaranteeConst", shape_unchanged},
    {"Igamma", shape_broadcast_binary},
    {"L2Loss", shape_scalar_output},
    {"LogicalOr", shape_broadcast_binary},
    {"MaxPool", shape_max_pool},
    {"MaxPool3D", shape_pool3d},
    {"MaxPoolV2", shape_max_pool_v2},
    {"Mod", shape_broadcast_binary},
};

enum { NUM_CANDIDATES = sizeof kCandidates / sizeof kCandidates[0] };

typedef struct Ops {
  Arena *arena;
  OpRegistration registrations[NUM_CANDIDATES];
  Op ops[NUM_CANDIDATES];
} Ops;

static OpList *read_ops(Arena *arena) {
  StrBuf text = {0};
  Status status;
  status_init(&status);
  FILE *file = fopen("tests/data/ops.pbtxt", "rb");
  if (!CHECK(file)) return NULL;
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) strbuf_append_bytes(&text, chunk, got);
  fclose(file);
  void *list = NULL;
  CHECK_OK(proto_parse_text(kOpList, (Str){strbuf_text(&text), (size_t)text.length}, arena, &list, &status),
           status);
  strbuf_free(&text);
  return list;
}

static void begin_ops(Ops *ops) {
  *ops = (Ops){.arena = arena_new()};
  const OpList *list = read_ops(ops->arena);
  for (int i = 0; list && i < NUM_CANDIDATES; i++) {
    ops->registrations[i] = (OpRegistration){.name = kCandidates[i].name, .shape = kCandidates[i].shape};
    ops->ops[i].registration = &ops->registrations[i];
    for (size_t k = 0; k < list->n_op; k++) {
      if (strcmp(list->op[k]->name, kCandidates[i].name) == 0) ops->ops[i].def = list->op[k];
    }
    CHECK_CONTEXT("%s", kCandidates[i].name);
    CHECK(ops->ops[i].def);
  }
}

static const Op *find_candidate(void *arg, const char *name) {
  const Ops *ops = arg;
  for (int i = 0; i < NUM_CANDIDATES; i++) {
    if (strcmp(kCandidates[i].name, name) == 0 && ops->ops[i].def) return &ops->ops[i];
  }
  return NULL;
}

TEST(facts_about_ops_to_come_hold) {
  Ops ops;
  int counts[SHAPE_FACT_RESULTS];
  begin_ops(&ops);
  shape_facts_run_all("tests/data/shape-facts.jsonl", find_candidate, &ops, counts);
  printf("shape facts of ops to come: %d hold, %d fail\n", counts[SHAPE_FACT_HOLDS],
         counts[SHAPE_FACT_FAILS]);
  CHECK(counts[SHAPE_FACT_HOLDS] > 0);
  arena_free(ops.arena);
}

/* A record in the format of the file, for cases that the file lacks. */
static void check_record(const Ops *ops, const char *record) {
  Arena *arena = arena_new();
  StrBuf why = {0};
  const Json *fact = json_parse(arena, record, strlen(record));
  CHECK_CONTEXT("%s", record);
  if (CHECK(fact)) {
    ShapeFactResult result =
        shape_fact_run(fact, find_candidate((void *)ops, json_get(fact, "op")->string), &why);
    CHECK_STR_EQ(strbuf_text(&why), "");
    CHECK_INT_EQ(result, SHAPE_FACT_HOLDS);
  }
  strbuf_free(&why);
  arena_free(arena);
}

#define TYPE "\"T\":{\"type\":\"DT_FLOAT\"}"
#define POOL(op, ksize, strides, padding, format)                               \
  "{\"op\":\"" op "\",\"attrs\":{" TYPE ",\"ksize\":{\"list\":{\"i\":" ksize    \
  "}},\"strides\":{\"list\":{\"i\":" strides "}},\"padding\":{\"s\":\"" padding \
  "\"},\"data_format\":{\"s\":\"" format "\"}},"

TEST(pooling_by_attrs) {
  Ops ops;
  begin_ops(&ops);
  /* A computed size is a new dimension, even over the channels. (5 - 2) / 2 + 1 = 2 windows lie inside,
   * ceil(5 / 2) = 3 begin inside. */
  check_record(&ops, POOL("MaxPool", "[1,2,2,1]", "[1,2,2,1]", "VALID",
                          "NHWC") "\"in\":\"[?,5,?,3]\",\"out\":\"[d0_0,2,?,3]\"}");
  check_record(&ops, POOL("MaxPool", "[1,2,2,1]", "[1,2,2,1]", "SAME",
                          "NHWC") "\"in\":\"[?,5,5,3]\",\"out\":\"[d0_0,3,3,d0_3]\"}");
  check_record(&ops, POOL("MaxPool", "[1,1,2,2]", "[1,1,1,1]", "VALID",
                          "NCHW") "\"in\":\"[8,3,5,6]\",\"out\":\"[d0_0,3,4,5]\"}");
  check_record(&ops, POOL("MaxPool", "[1,1,1,3]", "[1,1,1,3]", "VALID",
                          "NHWC") "\"in\":\"[8,5,5,6]\",\"out\":\"[d0_0,5,5,2]\"}");
  check_record(&ops, POOL("AvgPool", "[1,3,3,1]", "[1,1,1,1]", "VALID",
                          "NHWC") "\"in\":\"?\",\"out\":\"[?,?,?,?]\"}");
  check_record(&ops, POOL("AvgPool", "[1,3,3,1]", "[1,1,1,1]", "VALID", "NHWC")
                         "\"in\":\"[1,2,5,1]\",\"error\":\"Negative dimension size caused by subtracting 3 from 2\"}");
  check_record(&ops, POOL("AvgPool", "[1,3,3]", "[1,1,1,1]", "VALID", "NHWC")
                         "\"in\":\"[1,5,5,1]\",\"error\":\"AvgPool requires the ksize attribute to contain 4 values, but got: 3\"}");
  check_record(&ops, POOL("MaxPool", "[1,3,3,1]", "[1,0,1,1]", "SAME",
                          "NHWC") "\"in\":\"[1,5,5,1]\",\"error\":\"Stride must be > 0, but got 0\"}");
  check_record(&ops, POOL("MaxPool", "[1,9223372036854775807,3,1]", "[1,1,1,1]", "SAME",
                          "NHWC") "\"in\":\"[1,5,5,1]\",\"error\":\"out of range for an int32\"}");
  check_record(
      &ops,
      POOL(
          "MaxPool", "[1,3,3,1]", "[1,2,1,1]", "SAME",
          "NHWC") "\"in\":\"[1,9223372036854775807,5,1]\",\"error\":\"Dimension size overflow from "
                  "adding\"}");
  check_record(&ops, POOL("MaxPool", "[1,3,3,1]", "[1,1,1,1]", "WIDE",
                          "NHWC") "\"in\":\"[1,5,5,1]\",\"error\":\"WIDE is not an allowed padding type\"}");
  check_record(&ops, POOL("MaxPool", "[1,3,3,1]", "[1,1,1,1]", "SAME",
                          "WHAT") "\"in\":\"[1,5,5,1]\",\"error\":\"Invalid data format string: WHAT\"}");
  arena_free(ops.arena);
}

TEST(gradients_of_batch_normalisation) {
  Ops ops;
  begin_ops(&ops);
#define GRADIENT(format) \
  "{\"op\":\"FusedBatchNormGrad\",\"attrs\":{" TYPE ",\"data_format\":{\"s\":\"" format "\"}},"
  check_record(&ops, GRADIENT("NHWC") "\"in\":\"[?,?,?,?];[?,?,?,?];[3];?;?\",\"out\":\"[d0_0,d0_1,d0_2,d2_0];[d2_0];[d2_0];[0];[0]\"}");
  check_record(&ops,
               GRADIENT(
                   "NCHW") "\"in\":\"?;[2,3,4,5];?;?;?\",\"out\":\"[?,d1_1,?,?];[d1_1];[d1_1];[0];[0]\"}");
  check_record(
      &ops,
      GRADIENT("NHWC") "\"in\":\"?;?;[3];[4];?\",\"error\":\"Dimensions must be equal, but are 3 and 4\"}");
  arena_free(ops.arena);
}
