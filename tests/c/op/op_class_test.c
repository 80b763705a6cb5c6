/* The classes of ops: TensorFlow's table of node classes, and the additional ones. */
#include "op/op_class.h"

#include "harness.h"
#include "op/op_registry.h"

typedef struct Expected {
  const char *op;
  NodeClass node_class;
} Expected;

static const Expected kTensorFlows[] = {{"Switch", NODE_SWITCH},
                                        {"RefSwitch", NODE_SWITCH},
                                        {"_SwitchN", NODE_SWITCH},
                                        {"Merge", NODE_MERGE},
                                        {"RefMerge", NODE_MERGE},
                                        {"_XlaMerge", NODE_MERGE},
                                        {"Enter", NODE_ENTER},
                                        {"RefEnter", NODE_ENTER},
                                        {"Exit", NODE_EXIT},
                                        {"RefExit", NODE_EXIT},
                                        {"NextIteration", NODE_NEXT_ITERATION},
                                        {"RefNextIteration", NODE_NEXT_ITERATION},
                                        {"LoopCond", NODE_LOOP_COND},
                                        {"ControlTrigger", NODE_CONTROL_TRIGGER},
                                        {"_Send", NODE_SEND},
                                        {"_HostSend", NODE_HOST_SEND},
                                        {"_Recv", NODE_RECV},
                                        {"_HostRecv", NODE_HOST_RECV},
                                        {"Const", NODE_CONSTANT},
                                        {"HostConst", NODE_CONSTANT},
                                        {"Variable", NODE_VARIABLE},
                                        {"VariableV2", NODE_VARIABLE},
                                        {"Identity", NODE_IDENTITY},
                                        {"RefIdentity", NODE_IDENTITY},
                                        {"GetSessionHandle", NODE_SESSION_HANDLE},
                                        {"GetSessionHandleV2", NODE_SESSION_HANDLE},
                                        {"GetSessionTensor", NODE_SESSION_HANDLE},
                                        {"DeleteSessionTensor", NODE_SESSION_HANDLE},
                                        {"Shape", NODE_SHAPE},
                                        {"ShapeN", NODE_SHAPE},
                                        {"Size", NODE_SIZE},
                                        {"Rank", NODE_RANK},
                                        {"FakeParam", NODE_FAKE_PARAM},
                                        {"PartitionedCall", NODE_PARTITIONED_CALL},
                                        {"StatefulPartitionedCall", NODE_PARTITIONED_CALL},
                                        {"SymbolicGradient", NODE_SYMBOLIC_GRADIENT},
                                        {"If", NODE_IF},
                                        {"StatelessIf", NODE_IF},
                                        {"While", NODE_WHILE},
                                        {"StatelessWhile", NODE_WHILE},
                                        {"Case", NODE_CASE},
                                        {"StatelessCase", NODE_CASE},
                                        {"_Arg", NODE_ARG},
                                        {"_DeviceArg", NODE_ARG},
                                        {"_Retval", NODE_RETVAL},
                                        {"_DeviceRetval", NODE_RETVAL}};

TEST(ops_have_tensorflows_node_classes) {
  for (size_t i = 0; i < sizeof kTensorFlows / sizeof kTensorFlows[0]; i++)
    CHECK_INT_EQ(node_class_of_op(kTensorFlows[i].op), kTensorFlows[i].node_class);
}

TEST(a_part_of_a_name_has_no_class) {
  static const char *const kOthers[] = {"",       "S", "Switc",  "SwitchX",   "switch",
                                        "Const1", "_", "IfElse", "Identity2", "PlaceholderWith",
                                        "MatMul", "@", "`x",     "\xff"};
  for (size_t i = 0; i < sizeof kOthers / sizeof kOthers[0]; i++)
    CHECK_INT_EQ(node_class_of_op(kOthers[i]), NODE_OTHER);
}

TEST(an_op_of_a_registry_knows_its_class) {
  static const OpRegistration kMerge = {.name = "RefMerge"}, kAdd = {.name = "Add"};
  Status status;
  status_init(&status);
  OpRegistry *registry = op_registry_new();
  REQUIRE(registry);
  CHECK_OK(op_registry_add(registry, &kMerge, &status) && op_registry_add(registry, &kAdd, &status), &status);
  const Op *merge = op_registry_find(registry, "RefMerge"), *add = op_registry_find(registry, "Add");
  REQUIRE(merge && add);
  CHECK_INT_EQ(merge->node_class, NODE_MERGE);
  CHECK_INT_EQ(add->node_class, NODE_OTHER);
  op_registry_free(registry);
}
