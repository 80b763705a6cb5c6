/* Kernels of side ops and of side types: they may be in a module that is loaded when a graph has one of them.
 */
#include <ctype.h>
#include <string.h>

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

static bool is_side_op(const OpRegistration *op) {
  for (int i = 0; i < kNumSideOps; i++)
    if (kSideOps[i] == op) return true;
  return false;
}

/* Training does not load the side module. */
TEST(gradients_of_other_ops_need_no_side_op) {
  CHECK(kNumSideOps > 0 && kNumSideOps < kOpTableSize);
  for (int i = 0; i < kOpTableSize; i++) {
    const OpRegistration *op = kOpTable[i];
    if (!op->gradient || is_side_op(op)) continue;
    CHECK_CONTEXT("%s", op->name);
    for (int k = 0; k < kNumSideOps; k++)
      if (mentions(op->gradient, kSideOps[k]->name)) CHECK_STR_EQ(kSideOps[k]->name, "no side op");
  }
  CHECK_CONTEXT("%s", "");
}

TEST(kernels_of_the_side_module_are_refused_outside_of_steps_while_it_is_missing) {
  Status status;
  status_init(&status);
  op_gives("StringLower", "string[2] AB c", "string[2] ab c"); /* registers the ops */
  OpRegistry *registry = op_registry_global();
  CHECK_ERROR(op_registry_set_aside(registry, "NoSuchOp", ASIDE_ALL, &status), status, CODE_NOT_FOUND,
              "NoSuchOp");
  status_init(&status);
  CHECK_OK(op_registry_set_aside(registry, "StringLower", ASIDE_ALL, &status), status);
  CHECK_OK(op_registry_set_aside(registry, "ArgMax", ASIDE_INTEGERS, &status), status);
  side_kernels_set_missing(true);
  op_gives("ArgMax[T=float]", "float[3] 1 3 2; int32[] 0", "int64[] 1");
  op_gives("Add[T=float]", "float[] 1; float[] 2", "float[] 3");
  op_gives("Identity[T=double]", "double[] 1", "double[] 1"); /* one kernel for all types */
  CHECK(!side_kernels_wanted());
  op_fails("StringLower", "string[2] AB c", CODE_UNAVAILABLE,
           "The kernels of op 'StringLower' are in the side module");
  op_fails("Add[T=double]", "double[] 1; double[] 2", CODE_UNAVAILABLE,
           "The kernels of op 'Add' are in the side module");
  op_fails("ArgMax[T=int32]", "int32[3] 1 3 2; int32[] 0", CODE_UNAVAILABLE,
           "The kernels of op 'ArgMax' are in the side module");
  CHECK(side_kernels_wanted());
  side_kernels_set_missing(false);
  CHECK(!side_kernels_wanted());
  op_gives("StringLower", "string[2] AB c", "string[2] ab c");
  op_gives("Add[T=double]", "double[] 1; double[] 2", "double[] 3");
}
