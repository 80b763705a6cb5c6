/* Logical ops. */
#include "harness.h"
#include "op_runner.h"

TEST(logic) {
  op_gives("LogicalAnd", "bool[2,1] 1 0; bool[2] 1 0", "bool[2,2] 1 0 0 0");
  op_gives("LogicalOr", "bool[2,1] 1 0; bool[2] 1 0", "bool[2,2] 1 1 1 0");
  op_gives("LogicalAnd", "bool[4] 1 1 0 0; bool[4] 1 0 1 0", "bool[4] 1 0 0 0");
  op_gives("LogicalOr", "bool[4] 1 1 0 0; bool[] 0", "bool[4] 1 1 0 0");
  op_gives("LogicalNot", "bool[3] 1 0 1", "bool[3] 0 1 0");
  op_gives("LogicalNot", "bool[0]", "bool[0]");
  op_fails("LogicalAnd", "bool[2] 1; bool[3] 1", CODE_INVALID_ARGUMENT, "Incompatible shapes: [2] vs. [3]");
}
