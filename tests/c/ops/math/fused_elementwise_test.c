/* The programs of _FusedElementwise: what they compute, and those that the kernel refuses. Graphs in which
 * the optimizer makes them: tests/c/runtime. */
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"

/* The node with two inputs and one output of a type. */
static const char *fused(const char *type, const char *ops, const char *types, const char *operands,
                         const char *results) {
  static char text[512];
  snprintf(text, sizeof text,
           "_FusedElementwise[Tin=[%s, %s], Tout=[%s], ops=[%s], nodes=[a, b], types=[%s], operands=[%s], "
           "results=[%s]]",
           type, type, type, ops, types, operands, results);
  return text;
}

static const char kInputs[] = "float[3] 1 2 3; float[3] 4 5 6";

TEST(a_program_computes_its_nodes_in_order) {
  op_gives(fused("float", "Mul, Neg", "float, float", "0, 1, 2", "1"), kInputs, "float[3] -4 -10 -18");
  op_gives(fused("float", "Neg, Sub", "float, float", "0, 2, 1", "1"), kInputs, "float[3] -5 -7 -9");
  op_gives(fused("bool", "LogicalOr, LogicalNot", "bool, bool", "0, 1, 2", "1"),
           "bool[2] true false; bool[2] false false", "bool[2] false true");
  op_gives(fused("float", "Max, Sub", "float, float", "0, 1, 2", "1"), kInputs, "float[3] 1 2 3");
}

TEST(a_program_chooses_elements) {
  op_gives(fused("float", "Less, SelectV2", "float, float", "0, 1, 2, 0, 1", "1"),
           "float[3] 1 5 3; float[3] 4 2 6", "float[3] 1 2 3");
  op_gives(fused("float", "Less, SelectV2", "float, float", "0, 1, 2, 1, 0", "1"),
           "float[2,2] 1 5 3 9; float[2] 4 2", "float[2,2] 4 5 4 9");
  op_gives(fused("bool", "LogicalNot, SelectV2", "bool, bool", "0, 0, 2, 1", "1"),
           "bool[3] true false true; bool[3] true true false", "bool[3] false true false");
  op_gives(fused("float", "Less, SelectV2", "float, float", "0, 1, 2, 0, 1", "1"),
           "float[] 7; float[2,1] 4 8", "float[2,1] 4 7");
  op_gives(fused("float", "Less, SelectV2", "float, float", "0, 0, 2, 1, 0", "1"),
           "float[1] 7; float[3] 4 8 9", "float[3] 7 7 7");
  op_gives(fused("float", "Less, SelectV2", "float, float", "0, 0, 2, 0, 1", "1"),
           "float[1] 7; float[3] 4 8 9", "float[3] 4 8 9");
}

static void refused(const char *node, const char *inputs) {
  op_fails(node, inputs, CODE_INVALID_ARGUMENT, "The program of a fused op is invalid");
}

TEST(programs_that_do_not_fit_are_refused) {
  refused(fused("float", "Mul, Neg", "float, float", "0, 3, 2", "1"), kInputs); /* a later node */
  refused(fused("float", "Mul, Neg", "float, float", "0, -1, 2", "1"), kInputs);
  refused(fused("float", "Mul, Neg", "float, float", "0, 1", "1"), kInputs); /* too few operands */
  refused(fused("float", "Mul, Neg", "float, float", "0, 1, 2, 2", "1"), kInputs);
  refused(fused("float", "Mul, Neg", "float, float", "0, 1, 2", "2"), kInputs); /* no such node */
  refused(fused("float", "Mul, Neg", "float", "0, 1, 2", "1"), kInputs);
  refused(fused("float", "Mul, Neg", "float, double", "0, 1, 2", "1"), kInputs);
  refused(fused("float", "Mul, Less", "float, float", "0, 1, 2, 2", "1"), kInputs); /* a bool */
  refused(fused("float", "Mul, Softmax", "float, float", "0, 1, 2", "1"), kInputs);
  refused(fused("float", "LogicalOr, Neg", "float, float", "0, 1, 2", "1"), kInputs);
  refused(fused("float", "Neg, SelectV2", "float, float", "0, 2, 0, 1", "1"), kInputs); /* no condition */
  refused(fused("float", "Less, SelectV2", "float, double", "0, 1, 2, 0, 1", "1"), kInputs);
  refused(fused("float", "Less, Select", "float, float", "0, 1, 2, 0, 1", "1"), kInputs);
  refused(fused("complex128", "Mul, Neg", "complex128, complex128", "0, 1, 2", "1"),
          "complex128[1] 1; complex128[1] 2");
}

TEST(rows_of_a_scalar_are_refused) {
  op_fails(fused("float", "Max, Neg", "float, float", "0, 2", "1"), "float[] 1; float[] 2",
           CODE_INVALID_ARGUMENT, "Invalid reduction dimension (-1 for input with 0 dimension(s)");
}
