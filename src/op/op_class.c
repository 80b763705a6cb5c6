#include "op/op_class.h"

#include <string.h>

typedef struct NamedClass {
  const char *op;
  NodeClass node_class;
} NamedClass;

/* One list for each first character, because an import looks up each of its nodes. */
static const NamedClass kC[] = {{"Case", NODE_CASE},
                                {"Cast", NODE_CAST},
                                {"Concat", NODE_CONCAT},
                                {"ConcatV2", NODE_CONCAT_V2},
                                {"Const", NODE_CONSTANT},
                                {"ControlTrigger", NODE_CONTROL_TRIGGER},
                                {0}};
static const NamedClass kD[] = {{"DeleteSessionTensor", NODE_SESSION_HANDLE}, {0}};
static const NamedClass kE[] = {{"Enter", NODE_ENTER}, {"Exit", NODE_EXIT}, {0}};
static const NamedClass kF[] = {{"FakeParam", NODE_FAKE_PARAM}, {"For", NODE_FOR}, {0}};
static const NamedClass kG[] = {{"GetSessionHandle", NODE_SESSION_HANDLE},
                                {"GetSessionHandleV2", NODE_SESSION_HANDLE},
                                {"GetSessionTensor", NODE_SESSION_HANDLE},
                                {0}};
static const NamedClass kH[] = {{"HostConst", NODE_CONSTANT}, {0}};
static const NamedClass kI[] = {{"Identity", NODE_IDENTITY}, {"If", NODE_IF}, {0}};
static const NamedClass kL[] = {{"LoopCond", NODE_LOOP_COND}, {0}};
static const NamedClass kM[] = {{"MapAccumulateGrad", NODE_MAP_ACCUMULATE_GRAD}, {"Merge", NODE_MERGE}, {0}};
static const NamedClass kN[] = {{"NextIteration", NODE_NEXT_ITERATION}, {"NoOp", NODE_NO_OP}, {0}};
static const NamedClass kP[] = {{"Pack", NODE_PACK},
                                {"PartitionedCall", NODE_PARTITIONED_CALL},
                                {"Placeholder", NODE_PLACEHOLDER},
                                {"PlaceholderV2", NODE_PLACEHOLDER},
                                {"PlaceholderWithDefault", NODE_PLACEHOLDER_WITH_DEFAULT},
                                {0}};
static const NamedClass kR[] = {{"Rank", NODE_RANK},
                                {"Recv", NODE_RECV},
                                {"RefEnter", NODE_ENTER},
                                {"RefExit", NODE_EXIT},
                                {"RefIdentity", NODE_IDENTITY},
                                {"RefMerge", NODE_MERGE},
                                {"RefNextIteration", NODE_NEXT_ITERATION},
                                {"RefSwitch", NODE_SWITCH},
                                {"RemoteCall", NODE_REMOTE_CALL},
                                {0}};
static const NamedClass kS[] = {{"Send", NODE_SEND},
                                {"Shape", NODE_SHAPE},
                                {"ShapeN", NODE_SHAPE},
                                {"Size", NODE_SIZE},
                                {"StatefulPartitionedCall", NODE_PARTITIONED_CALL},
                                {"StatelessCase", NODE_CASE},
                                {"StatelessIf", NODE_IF},
                                {"StatelessRandomGetKeyCounter", NODE_KEY_COUNTER},
                                {"StatelessWhile", NODE_WHILE},
                                {"StridedSlice", NODE_STRIDED_SLICE},
                                {"Switch", NODE_SWITCH},
                                {"SymbolicGradient", NODE_SYMBOLIC_GRADIENT},
                                {0}};
static const NamedClass kV[] = {{"Variable", NODE_VARIABLE}, {"VariableV2", NODE_VARIABLE}, {0}};
static const NamedClass kW[] = {{"While", NODE_WHILE}, {0}};
static const NamedClass kUnderscore[] = {{"_Arg", NODE_ARG},
                                         {"_ArrayToList", NODE_LIST_ARRAY_CONVERTER},
                                         {"_DeviceArg", NODE_ARG},
                                         {"_DeviceRetval", NODE_RETVAL},
                                         {"_FusedElementwise", NODE_FUSED},
                                         {"_HostRecv", NODE_HOST_RECV},
                                         {"_HostSend", NODE_HOST_SEND},
                                         {"_If", NODE_IF},
                                         {"_ListToArray", NODE_LIST_ARRAY_CONVERTER},
                                         {"_ParallelRecv", NODE_RECV},
                                         {"_Recv", NODE_RECV},
                                         {"_Retval", NODE_RETVAL},
                                         {"_Send", NODE_SEND},
                                         {"_SwitchN", NODE_SWITCH},
                                         {"_While", NODE_WHILE},
                                         {"_XlaMerge", NODE_MERGE},
                                         {0}};

static const NamedClass *const kByFirst['_' - 'A' + 1] = {['C' - 'A'] = kC, ['D' - 'A'] = kD,
                                                          ['E' - 'A'] = kE, ['F' - 'A'] = kF,
                                                          ['G' - 'A'] = kG, ['H' - 'A'] = kH,
                                                          ['I' - 'A'] = kI, ['L' - 'A'] = kL,
                                                          ['M' - 'A'] = kM, ['N' - 'A'] = kN,
                                                          ['P' - 'A'] = kP, ['R' - 'A'] = kR,
                                                          ['S' - 'A'] = kS, ['V' - 'A'] = kV,
                                                          ['W' - 'A'] = kW, ['_' - 'A'] = kUnderscore};

NodeClass node_class_of_op(const char *op) {
  int first = (unsigned char)op[0] - 'A';
  if (first < 0 || first > '_' - 'A') return NODE_OTHER;
  for (const NamedClass *named = kByFirst[first]; named && named->op; named++) {
    if (op[1] == named->op[1] && strcmp(op, named->op) == 0) return named->node_class;
  }
  return NODE_OTHER;
}
