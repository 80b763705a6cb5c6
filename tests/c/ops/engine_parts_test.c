/* Parts of the engine that may be in modules of their own: which ops and kernels they have, and what happens
 * while one is missing. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "harness.h"
#include "op/side_kernels.h"
#include "op_runner.h"
#include "ops/op_table.h"

static bool is_part_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether function text has a node with this op: its name, before attrs or arguments. */
static bool mentions(const char *text, const char *op) {
  size_t length = strlen(op);
  for (const char *at = strstr(text, op); at; at = strstr(at + 1, op)) {
    bool begins = at == text || !is_part_of_name(at[-1]);
    if (begins && (at[length] == '[' || at[length] == '(')) return true;
  }
  return false;
}

static const OpTableRow *row_of(const char *name) {
  for (int i = 0; i < kOpTableSize; i++)
    if (strcmp(kOpTable[i].name, name) == 0) return &kOpTable[i];
  return NULL;
}

TEST(rows_have_the_names_of_their_ops) {
  for (int i = 0; i < kOpTableSize; i++) CHECK_STR_EQ(kOpTable[i].name, kOpTable[i].registration->name);
}

/* Training does not load the side part. */
TEST(gradients_of_other_ops_need_no_side_op) {
  int num_side = 0;
  for (int i = 0; i < kOpTableSize; i++) {
    const OpTableRow *row = &kOpTable[i];
    num_side += row->part == PART_SIDE;
    if (!row->registration->gradient || row->part == PART_SIDE) continue;
    CHECK_CONTEXT("%s", row->name);
    for (int k = 0; k < kOpTableSize; k++)
      if (kOpTable[k].part == PART_SIDE && mentions(row->registration->gradient, kOpTable[k].name))
        CHECK_STR_EQ(kOpTable[k].name, "no side op");
  }
  CHECK_CONTEXT("%s", "");
  CHECK(num_side > 0 && num_side < kOpTableSize);
}

TEST(ops_for_training_are_with_the_gradients) {
  static const char *const kTraining[] = {"ReluGrad",    "Conv2DBackpropFilter",
                                          "BiasAddGrad", "SparseSoftmaxCrossEntropyWithLogits",
                                          "MaxPoolGrad", "ResourceApplyAdam"};
  static const char *const kOthers[] = {"Conv2DBackpropInput", "StopGradient", "PreventGradient", "AddN"};
  for (size_t i = 0; i < sizeof kTraining / sizeof *kTraining; i++)
    CHECK_INT_EQ(row_of(kTraining[i])->part, PART_TRAINING);
  for (size_t i = 0; i < sizeof kOthers / sizeof *kOthers; i++)
    CHECK_INT_EQ(row_of(kOthers[i])->part, PART_MAIN);
}

/* --- a part that is missing --- */

static int num_loads;
static bool can_load;

static char *load(EnginePart part) {
  num_loads++;
  if (can_load) engine_part_set_missing(part, false);
  return can_load ? NULL : strdup("the file is not there");
}

static OpRegistry *registry_without_side_part(void) {
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  CHECK_OK(op_registry_add_table(registry, kOpTable, kOpTableSize, &status), status);
  engine_parts_set_loader(load);
  engine_part_set_missing(PART_SIDE, true);
  num_loads = 0;
  return registry;
}

static void end(OpRegistry *registry) {
  op_registry_free(registry);
  engine_part_set_missing(PART_SIDE, false);
  engine_parts_set_loader(NULL);
}

TEST(a_look_up_loads_the_part_of_the_op) {
  Status status;
  status_init(&status);
  OpRegistry *registry = registry_without_side_part();
  can_load = true;
  const Op *op;
  CHECK_OK(op_registry_look_up(registry, "Add", &op, &status), status);
  CHECK_OK(op_registry_look_up(registry, "ReluGrad", &op, &status), status);
  CHECK_INT_EQ(num_loads, 0);
  CHECK_OK(op_registry_look_up(registry, "StringLower", &op, &status), status);
  CHECK_STR_EQ(op->def->name, "StringLower");
  CHECK_OK(op_registry_look_up(registry, "StringUpper", &op, &status), status);
  CHECK_INT_EQ(num_loads, 1);
  end(registry);
}

TEST(a_part_that_cannot_be_loaded_is_an_error_of_each_look_up) {
  Status status;
  OpRegistry *registry = registry_without_side_part();
  can_load = false;
  const Op *op;
  for (int i = 1; i <= 2; i++) {
    status_init(&status);
    CHECK_ERROR(op_registry_look_up(registry, "StringLower", &op, &status), status, CODE_UNAVAILABLE,
                "the file is not there");
    CHECK_INT_EQ(num_loads, i);
  }
  CHECK(!op_registry_find(registry, "StringLower"));
  status_init(&status);
  Arena *arena = arena_new();
  OpList *list;
  CHECK_ERROR(op_registry_export(registry, false, arena, &list, &status), status, CODE_UNAVAILABLE,
              "the file is not there");
  can_load = true;
  status_init(&status);
  CHECK_OK(op_registry_look_up(registry, "StringLower", &op, &status), status);
  CHECK_OK(op_registry_export(registry, true, arena, &list, &status), status);
  CHECK_INT_EQ((int)list->n_op, kOpTableSize);
  arena_free(arena);
  end(registry);
}

TEST(registrations_are_processed_again_when_a_part_is_there) {
  Status status;
  status_init(&status);
  OpRegistry *registry = registry_without_side_part();
  can_load = false;
  CHECK_ERROR(op_registry_process_registrations(registry, &status), status, CODE_UNAVAILABLE,
              "the file is not there");
  can_load = true;
  status_init(&status);
  CHECK_OK(op_registry_process_registrations(registry, &status), status);
  end(registry);
}

TEST(a_part_without_loader_is_an_error) {
  Status status;
  status_init(&status);
  engine_part_set_missing(PART_TRAINING, true);
  CHECK_ERROR(engine_part_need(PART_TRAINING, &status), status, CODE_UNAVAILABLE, "not loaded");
  engine_part_set_missing(PART_TRAINING, false);
  status_init(&status);
  CHECK_OK(engine_part_need(PART_TRAINING, &status), status);
}

TEST(kernels_of_the_side_part_are_refused_outside_of_steps_while_it_is_missing) {
  op_gives("ArgMax[T=int32]", "int32[3] 1 3 2; int32[] 0", "int64[] 1"); /* registers the ops */
  engine_part_set_missing(PART_SIDE, true);
  op_gives("ArgMax[T=float]", "float[3] 1 3 2; int32[] 0", "int64[] 1");
  op_gives("Add[T=float]", "float[] 1; float[] 2", "float[] 3");
  op_gives("Identity[T=double]", "double[] 1", "double[] 1"); /* one kernel for all types */
  CHECK(!side_kernels_wanted());
  op_fails("Add[T=double]", "double[] 1; double[] 2", CODE_UNAVAILABLE,
           "The kernels of op 'Add' are in the side module");
  op_fails("ArgMax[T=int32]", "int32[3] 1 3 2; int32[] 0", CODE_UNAVAILABLE,
           "The kernels of op 'ArgMax' are in the side module");
  CHECK(side_kernels_wanted());
  engine_part_set_missing(PART_SIDE, false);
  CHECK(!side_kernels_wanted());
  op_gives("ArgMax[T=int32]", "int32[3] 1 3 2; int32[] 0", "int64[] 1");
  op_gives("Add[T=double]", "double[] 1; double[] 2", "double[] 3");
}
