/* The attrs of _FusedRecurrence (op/fused_op.h): a loop by hand, and those that the kernel refuses. Graphs in
 * which the optimizer makes such nodes: tests/c/runtime. */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op/fused_op.h"
#include "op/kernel.h"
#include "op_runner.h"

/* h = h w + x, for rows of x: inputs h, w, x. */
#define PRODUCT "func { name: 'MatMul' attr { key: 'T' value { type: DT_FLOAT } } } "
#define TRANSPOSED                                                    \
  "func { name: 'MatMul' attr { key: 'T' value { type: DT_FLOAT } } " \
  "attr { key: 'transpose_a' value { b: true } } } "
#define ELEMENTWISE(op)                                                \
  "func { name: '_FusedElementwise' "                                  \
  "attr { key: 'Tin' value { list { type: [DT_FLOAT, DT_FLOAT] } } } " \
  "attr { key: 'Tout' value { list { type: DT_FLOAT } } } "            \
  "attr { key: 'ops' value { list { s: '" op                           \
  "' } } } attr { key: 'nodes' value { list { s: 'a' } } } "           \
  "attr { key: 'types' value { list { type: DT_FLOAT } } } "           \
  "attr { key: 'operands' value { list { i: [0, 1] } } } attr { key: 'results' value { list { i: 0 } } } } "
#define STAGES PRODUCT ELEMENTWISE("AddV2")

/* The sum where a condition holds, else the first operand of the round. */
#define CHOICE                                                                  \
  "func { name: '_FusedElementwise' "                                           \
  "attr { key: 'Tin' value { list { type: [DT_BOOL, DT_FLOAT, DT_FLOAT] } } } " \
  "attr { key: 'Tout' value { list { type: DT_FLOAT } } } "                     \
  "attr { key: 'ops' value { list { s: 'SelectV2' } } } "                       \
  "attr { key: 'nodes' value { list { s: 'a' } } } "                            \
  "attr { key: 'types' value { list { type: DT_FLOAT } } } "                    \
  "attr { key: 'operands' value { list { i: [0, 1, 2] } } } "                   \
  "attr { key: 'results' value { list { i: 0 } } } } "

typedef struct Attrs {
  const char *rounds, *stages, *operands, *next, *results, *rows;
  const char *fourth; /* the type of a fourth input; or NULL */
  const char *groups; /* NULL: one of all stages */
  const char *second; /* the type of the second output; NULL: DT_FLOAT */
} Attrs;

static const char kInputs[] = "float[1,2] 1 2; float[2,2] 1 1 0 2; float[3,1,2] 10 20 30 40 50 60";

static int count_of(const char *part, const char *text) {
  int count = 0;
  while ((text = strstr(text, part))) count++, text++;
  return count;
}

static NodeDef *node_of(const Attrs *attrs, Arena *arena) {
  char text[4096], groups[16];
  void *node = NULL;
  Status status;
  status_init(&status);
  snprintf(groups, sizeof groups, "%d", count_of("func {", attrs->stages));
  snprintf(text, sizeof text,
           "name: 'n' op: '_FusedRecurrence' "
           "attr { key: 'Tin' value { list { type: [DT_FLOAT, DT_FLOAT, DT_FLOAT%s%s] } } } "
           "attr { key: 'Tout' value { list { type: [DT_FLOAT, %s] } } } "
           "attr { key: 'rounds' value { i: %s } } attr { key: 'stages' value { list { %s } } } "
           "attr { key: 'operands' value { list { i: [%s] } } } "
           "attr { key: 'next' value { list { i: [%s] } } } "
           "attr { key: 'results' value { list { i: [%s] } } } attr { key: 'rows' value { list { i: [%s] } } "
           "} attr { key: 'groups' value { list { i: [%s] } } }",
           attrs->fourth ? ", " : "", attrs->fourth ? attrs->fourth : "",
           attrs->second ? attrs->second : "DT_FLOAT", attrs->rounds, attrs->stages, attrs->operands,
           attrs->next, attrs->results, attrs->rows, attrs->groups ? attrs->groups : groups);
  CHECK_OK(proto_parse_text(kNodeDef, str_of(text), arena, &node, &status), &status);
  return node;
}

static bool make(const NodeDef *node, OpKernel **kernel, Status *status) {
  const Op *op;
  status_init(status);
  return op_registry_look_up(op_registry_global(), "_FusedRecurrence", &op, status) &&
         op_kernel_new(op, node, NULL, NULL, kernel, status);
}

/* Runs the node on inputs as text. */
static bool run(const Attrs *attrs, const char *inputs, Tensor outputs[2], Status *status) {
  Arena *arena = arena_new();
  OpKernel *kernel = NULL;
  Tensor tensors[4] = {0};
  int count;
  const Tensor *pointers[4] = {&tensors[0], &tensors[1], &tensors[2], &tensors[3]};
  KernelContext context = {.inputs = pointers,
                           .outputs = outputs,
                           .num_inputs = attrs->fourth ? 4 : 3,
                           .num_outputs = 2};
  bool ok = make(node_of(attrs, arena), &kernel, status) &&
            tensors_parse(inputs, tensors, 4, &count, status) && op_kernel_run(kernel, &context, status);
  for (int i = 0; i < 4; i++) tensor_clear(&tensors[i]);
  op_kernel_free(kernel);
  arena_free(arena);
  return ok;
}

static const Attrs kGood = {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 4", "3, 0"};

TEST(a_recurrence_computes_its_rounds) {
  static const float kAll[] = {11, 25, 41, 101, 91, 303};
  Tensor outputs[2] = {0};
  Status status;
  if (CHECK_OK(run(&kGood, kInputs, outputs, &status), &status)) {
    CHECK(outputs[0].shape.rank == 3 && shape_dim(&outputs[0].shape, 0) == 3);
    CHECK(outputs[1].shape.rank == 2 && shape_dim(&outputs[1].shape, 0) == 1);
    for (int i = 0; i < 6; i++) CHECK_NEAR(tensor_f32(&outputs[0])[i], kAll[i], 0);
    for (int i = 0; i < 2; i++) CHECK_NEAR(tensor_f32(&outputs[1])[i], kAll[4 + i], 0);
  }
  for (int i = 0; i < 2; i++) tensor_clear(&outputs[i]);
}

/* Two rows: [[1, 2], [3, 4]] in front of round 0. */
TEST(a_recurrence_computes_several_rows) {
  static const float kAll[] = {11, 23, 33, 47, 61, 94, 113, 160}; /* h w + x by hand: h w = (h0, h0 + 2 h1) */
  const Attrs two = {"2", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 4", "2, 0"};
  Tensor outputs[2] = {0};
  Status status;
  if (CHECK_OK(run(&two, "float[2,2] 1 2 3 4; float[2,2] 1 1 0 2; float[2,2,2] 10 18 30 36 50 37 80 33",
                   outputs, &status),
               &status)) {
    CHECK(outputs[0].shape.rank == 3 && shape_dim(&outputs[0].shape, 1) == 2);
    CHECK(outputs[1].shape.rank == 2 && shape_dim(&outputs[1].shape, 0) == 2);
    for (int i = 0; i < 8; i++) CHECK_NEAR(tensor_f32(&outputs[0])[i], kAll[i], 0);
    for (int i = 0; i < 4; i++) CHECK_NEAR(tensor_f32(&outputs[1])[i], kAll[4 + i], 0);
  }
  for (int i = 0; i < 2; i++) tensor_clear(&outputs[i]);
}

#define MASKED STAGES CHOICE
#define MASKED_OPERANDS "0, 1, 4, 2, 3, 5, 0"

/* h = h w + x in rows whose condition holds in a round; in the others h stays. */
TEST(a_recurrence_chooses_by_rows_of_conditions) {
  static const float kAll[] = {11, 23, 3, 4, 11, 23, 53, 45, 114, 79, 53, 45};
  const Attrs masked = {"3", MASKED, MASKED_OPERANDS, "6, -1, -2, -2", "6, 6", "3, 0", "DT_BOOL"};
  Tensor outputs[2] = {0};
  Status status;
  if (CHECK_OK(run(&masked,
                   "float[2,2] 1 2 3 4; float[2,2] 1 1 0 2; float[3,2,2] 10 18 30 36 70 70 50 34 103 22 80 "
                   "33; "
                   "bool[3,2,1] true false false true true false",
                   outputs, &status),
               &status)) {
    for (int i = 0; i < 12; i++) CHECK_NEAR(tensor_f32(&outputs[0])[i], kAll[i], 0);
    for (int i = 0; i < 4; i++) CHECK_NEAR(tensor_f32(&outputs[1])[i], kAll[8 + i], 0);
  }
  for (int i = 0; i < 2; i++) tensor_clear(&outputs[i]);
}

#define TWO_LOOPS "3", STAGES STAGES, "0, 1, 4, 2, 3, 1, 6, 2", "5, -1, -2, 7", "5, 7", "3, 0", "DT_FLOAT"

/* h = h w + x and g = g w + x. */
TEST(a_recurrence_computes_several_loops) {
  static const float kAll[] = {11, 25, 41, 101, 91, 303}, kLast[] = {93, 333};
  const Attrs two = {TWO_LOOPS, "2, 2"};
  Tensor outputs[2] = {0};
  Status status;
  if (CHECK_OK(run(&two, "float[1,2] 1 2; float[2,2] 1 1 0 2; float[3,1,2] 10 20 30 40 50 60; float[1,2] 3 4",
                   outputs, &status),
               &status)) {
    for (int i = 0; i < 6; i++) CHECK_NEAR(tensor_f32(&outputs[0])[i], kAll[i], 0);
    for (int i = 0; i < 2; i++) CHECK_NEAR(tensor_f32(&outputs[1])[i], kLast[i], 0);
  }
  for (int i = 0; i < 2; i++) tensor_clear(&outputs[i]);
}

TEST(inputs_that_do_not_fit_fail) {
  static const struct {
    const char *inputs, *message;
  } kCases[] = {
      {"float[1,2] 1 2; float[2,2] 1; float[2,1,2] 1",
       "Tried to access element 2 in a list with 2 elements."},
      {"float[1,2] 1 2; float[2,2] 1; float[0,1,2]", "Tried to access element 2 in a list with 0 elements."},
      {"float[1,2] 1 2; float[2,2] 1; float[] 1", "Input 2 of a loop over rows has shape []"},
      {"float[1,2] 1 2; float[2,2] 1; float[3,2] 1", "Input 2 of a loop over rows has shape [3,2]"},
      {"float[2] 1 2; float[2,2] 1; float[3,1,2] 1", "Input 0 of a loop over rows has shape [2]"},
      {"float[2,2] 1 2 3 4; float[2,2] 1; float[3,3,2] 1", "Incompatible shapes: [2,2] vs. [3,2]"},
      {"float[1,2] 1 2; float[2,2] 1; float[3,2,2] 1",
       "A value of a loop has shape [1,2], and [2,2] in the next round"},
      {"float[0,2]; float[2,2] 1; float[3,1,2] 1", "Matrix size-incompatible: In[0]: [0,2], In[1]: [2,2]"},
      {"float[1,2] 1 2; float[3,2] 1; float[3,1,2] 1",
       "Matrix size-incompatible: In[0]: [1,2], In[1]: [3,2]"},
      {"float[1,2] 1 2; float[4] 1; float[3,1,2] 1", "Matrix size-incompatible: In[0]: [1,2], In[1]: [4]"},
      {"float[1,2] 1 2; float[2,3] 1; float[3,1,3] 1", "has shape [1,2], and [1,3] in the next round"},
      {"float[1,2] 1 2; float[2,2] 1; float[3,1,3] 1", "Incompatible shapes: [1,2] vs. [1,3]"},
      {"float[1,0]; float[0,2]; float[3,1,2] 1", "Matrix size-incompatible: In[0]: [1,0], In[1]: [0,2]"},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Tensor outputs[2] = {0};
    Status status;
    CHECK_CONTEXT("case %d", (int)i);
    CHECK(!run(&kGood, kCases[i].inputs, outputs, &status));
    CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
    if (!CHECK(strstr(status.message, kCases[i].message))) CHECK_STR_EQ(status.message, kCases[i].message);
    CHECK(!outputs[0].data && !outputs[1].data);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(recurrences_that_make_no_sense_are_refused) {
  static const Attrs kCases[] = {
      {"0", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 4", "3, 0"},
      {"3", "", "", "4, -1, -2", "4, 4", "3, 0"},
      {"3", STAGES, "0, 1, 4, 2", "4, -1, -2", "4, 4", "3, 0"}, /* a later stage */
      {"3", STAGES, "0, 1, 3", "4, -1, -2", "4, 4", "3, 0"},    /* too few operands */
      {"3", STAGES, "0, 1, -1, 2", "4, -1, -2", "4, 4", "3, 0"},
      {"3", STAGES, "0, 2, 3, 2", "4, -1, -2", "4, 4", "3, 0"}, /* weights that change */
      {"3", STAGES, "0, 3, 3, 2", "4, -1, -2", "4, 4", "3, 0"},
      {"3", STAGES, "0, 1, 3, 2", "1, -1, -2", "4, 4", "3, 0"}, /* an input becomes another one */
      {"3", STAGES, "0, 1, 3, 2", "5, -1, -2", "4, 4", "3, 0"},
      {"3", STAGES, "0, 1, 3, 2", "4, -3, -2", "4, 4", "3, 0"},
      {"3", STAGES, "0, 1, 3, 2", "4, -1", "4, 4", "3, 0"},
      {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 2", "3, 0"}, /* an input is no result */
      {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 5", "3, 0"},
      {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4", "3, 0"},
      {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 4", "2, 0"}, /* neither one row nor all */
      {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 4", "3"},
      {"3", TRANSPOSED ELEMENTWISE("AddV2"), "0, 1, 3, 2", "4, -1, -2", "4, 4", "3, 0"},
      {"3", PRODUCT ELEMENTWISE("Max"), "0, 1, 3, 2", "4, -1, -2", "4, 4", "3, 0"},
      {"3", PRODUCT ELEMENTWISE("Less"), "0, 1, 3, 2", "4, -1, -2", "4, 4", "3, 0"},
      {"3", PRODUCT "func { name: 'Neg' attr { key: 'T' value { type: DT_FLOAT } } }", "0, 1, 3", "4, -1, -2",
       "4, 4", "3, 0"},
      {"3", MASKED, MASKED_OPERANDS, "6, -1, -2, 6", "6, 6", "3, 0", "DT_BOOL"}, /* stages compute floats */
      {"3", MASKED, MASKED_OPERANDS, "6, -1, -2, -2", "6, 6", "3, 0", "DT_FLOAT"},
      {"3", MASKED, "0, 1, 4, 2, 2, 5, 0", "6, -1, -2, -2", "6, 6", "3, 0", "DT_BOOL"},
      {"3", MASKED, "3, 1, 4, 2, 3, 5, 0", "6, -1, -2, -2", "6, 6", "3, 0", "DT_BOOL"},
      {"3", MASKED, "0, 1, 4, 2, 3, 5, 3", "6, -1, -2, -2", "6, 6", "3, 0", "DT_BOOL"},
      {"3", MASKED, MASKED_OPERANDS, "6, -1, -2, -2", "6, 6", "3, 0", "DT_INT32"},
      {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 4", "3, 0", .second = "DT_UINT8"},
      {"3", STAGES, "0, 1, 3, 2", "4, -1, -2", "4, 4", "3, 0", .second = "DT_STRING"},
      {TWO_LOOPS, ""},
      {TWO_LOOPS, "2, 1"},
      {TWO_LOOPS, "2, 3"},
      {TWO_LOOPS, "2, 0, 2"},
      {TWO_LOOPS, "2, -1, 3"},
      {TWO_LOOPS, "1, 3"}, /* a stage reads what one of another loop computes: in this round, */
      {"3", STAGES STAGES, "0, 1, 4, 2, 5, 1, 6, 2", "5, -1, -2, 7", "5, 7", "3, 0", "DT_FLOAT", "2, 2"},
      {"3", STAGES STAGES, "0, 1, 4, 2, 0, 1, 6, 2", "5, -1, -2, 7", "5, 7", "3, 0", "DT_FLOAT", "2, 2"},
      {"3", STAGES STAGES, "3, 1, 4, 2, 0, 1, 6, 2", "5, -1, -2, 7", "5, 7", "3, 0", "DT_FLOAT",
       "2, 2"}, /* and in the one before */
  };
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Arena *arena = arena_new();
    OpKernel *kernel = NULL;
    Status status;
    CHECK_CONTEXT("case %d", (int)i);
    CHECK(!make(node_of(&kCases[i], arena), &kernel, &status));
    CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
    op_kernel_free(kernel);
    arena_free(arena);
  }
  CHECK_CONTEXT("%s", "");
}

/* h = h w w ..., as often as there are stages. */
TEST(the_stages_of_a_round_are_bounded) {
  for (int extra = 0; extra <= 1; extra++) {
    int count = RECURRENCE_MOST_STAGES + extra;
    StrBuf stages = {0}, operands = {0};
    char last[32], next[48];
    for (int i = 0; i < count; i++) {
      strbuf_append(&stages, PRODUCT);
      strbuf_printf(&operands, i == 0 ? "%d, 1" : ", %d, 1", i == 0 ? 0 : 2 + i);
    }
    snprintf(last, sizeof last, "%d, %d", 2 + count, 2 + count);
    snprintf(next, sizeof next, "%d, -1, -2", 2 + count);
    Attrs attrs = {"3", strbuf_text(&stages), strbuf_text(&operands), next, last, "3, 0"};
    Arena *arena = arena_new();
    OpKernel *kernel = NULL;
    Status status;
    CHECK_CONTEXT("%d stages", count);
    CHECK(make(node_of(&attrs, arena), &kernel, &status) == (extra == 0));
    op_kernel_free(kernel);
    arena_free(arena);
    strbuf_free(&stages);
    strbuf_free(&operands);
  }
  CHECK_CONTEXT("%s", "");
}
