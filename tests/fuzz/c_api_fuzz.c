/* Sequences of C API calls: every byte of the input decides the next call and its arguments. Handles are used
 * in any order and repeatedly, also those of another graph, and operations are not always finished. Uses that
 * TensorFlow forbids (of deleted objects, or reading a tensor after its end) are left out. */
#include "tensorflow/c/c_api.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/graph_mutation.h"
#include "tensor/dtype.h"
#include "tensorflow/c/c_api_experimental.h"

enum { NUM_GRAPHS = 2, NUM_SLOTS = 6, MAX_CALLS = 120, MAX_ARGS = 4, MAX_OPERATIONS = 200 };

typedef struct Slots {
  FuzzReader in;
  TF_Status *status;
  TF_Graph *graphs[NUM_GRAPHS];
  TF_Session *sessions[NUM_GRAPHS];
  TF_OperationDescription *descs[NUM_GRAPHS];
  TF_Tensor *tensors[NUM_SLOTS];
  TF_Buffer *buffers[NUM_SLOTS];
  TF_Function *functions[NUM_SLOTS];
  bool has_loops; /* a step might not end */
} Slots;

/* --- choosing arguments --- */

static int choose(Slots *s, int count) { return fuzz_byte(&s->in) % count; }
static int slot(Slots *s) { return choose(s, NUM_SLOTS); }
static TF_Graph *graph(Slots *s) { return s->graphs[choose(s, NUM_GRAPHS)]; }

static const char *op_name(Slots *s) {
  static const char *const usual[] =
      {"Const",           "Placeholder", "Add", "MatMul", "Identity",         "Split",
       "Concat",          "VarHandleOp", "If",  "NoOp",   "AssignVariableOp", "ReadVariableOp",
       "PartitionedCall", "IdentityN",   "f",   "g",      "Nowhere",          ""};
  int chosen = choose(s, 32);
  Random random = {fuzz_byte(&s->in)};
  return chosen < (int)(sizeof usual / sizeof *usual) ? usual[chosen] : random_op(&random)->name;
}

static const char *name(Slots *s) {
  static const char *const names[] = {"a",   "b",  "c",         "d", "a/b", "a:0", "^a",  "",
                                      "x y", "_a", "gradients", "T", "f",   "g",   "\xff"};
  return names[choose(s, sizeof names / sizeof *names)];
}

static const char *attr_name(Slots *s) {
  static const char *const names[] = {"dtype",  "shape",       "value",   "T",    "N",
                                      "Tin",    "Tout",        "f",       "axis", "num_split",
                                      "_class", "transpose_a", "nowhere", ""};
  return names[choose(s, sizeof names / sizeof *names)];
}

static TF_DataType type(Slots *s) {
  static const TF_DataType usual[] = {TF_FLOAT,  TF_FLOAT, TF_INT32,    TF_DOUBLE,
                                      TF_STRING, TF_BOOL,  TF_RESOURCE, TF_INT64};
  int chosen = choose(s, 10);
  return chosen < 8 ? usual[chosen] : (TF_DataType)choose(s, 140);
}

static int shape(Slots *s, int64_t dims[MAX_ARGS]) {
  int rank = choose(s, MAX_ARGS + 1);
  for (int i = 0; i < rank; i++) dims[i] = choose(s, 4);
  return rank;
}

static int partial_shape(Slots *s, int64_t dims[MAX_ARGS]) {
  int rank = choose(s, MAX_ARGS + 2) - 1;
  for (int i = 0; i < rank; i++) dims[i] = choose(s, 5) - 1;
  return rank;
}

static TF_Operation *operation(Slots *s, TF_Graph *of) {
  int chosen = choose(s, MAX_OPERATIONS), count = 0;
  size_t pos = 0;
  TF_Operation *oper = NULL;
  while (TF_GraphNextOperation(of, &pos)) count++;
  pos = 0;
  for (int i = 0; count > 0 && i <= chosen % count; i++) oper = TF_GraphNextOperation(of, &pos);
  return oper;
}

/* Indices are sometimes invalid. */
static TF_Output output(Slots *s, TF_Graph *of) {
  TF_Operation *oper = operation(s, of);
  int count = oper ? TF_OperationNumOutputs(oper) : 0, index = choose(s, 8);
  return (TF_Output){oper, index == 7 ? count : count > 0 ? index % count : 0};
}

static int outputs(Slots *s, TF_Graph *of, TF_Output list[MAX_ARGS]) {
  int count = choose(s, MAX_ARGS + 1), found = 0;
  for (int i = 0; i < count; i++) {
    list[found] = output(s, of);
    found += list[found].oper != NULL;
  }
  return found;
}

/* --- keeping results --- */

static void keep_tensor(Slots *s, TF_Tensor *tensor) {
  TF_Tensor **place = &s->tensors[slot(s)];
  TF_DeleteTensor(*place);
  *place = tensor;
}

static TF_Buffer *new_buffer(Slots *s) {
  TF_Buffer **place = &s->buffers[slot(s)];
  TF_DeleteBuffer(*place);
  return *place = TF_NewBuffer();
}

static void keep_function(Slots *s, TF_Function *function) {
  TF_Function **place = &s->functions[slot(s)];
  TF_DeleteFunction(*place);
  *place = function;
}

static TF_OperationDescription *description(Slots *s) { return s->descs[choose(s, NUM_GRAPHS)]; }

static void check(const Slots *s) { fuzz_check_code((Code)TF_GetCode(s->status), TF_Message(s->status)); }

/* --- calls: building --- */

static void begin_operation(Slots *s) {
  int which = choose(s, NUM_GRAPHS);
  const char *op = op_name(s);
  if (strstr(op, "While") || strcmp(op, "For") == 0) s->has_loops = true;
  if (s->descs[which]) TF_FinishOperation(s->descs[which], s->status);
  s->descs[which] = TF_NewOperation(s->graphs[which], op, name(s));
}

static void finish_operation(Slots *s) {
  int which = choose(s, NUM_GRAPHS);
  if (!s->descs[which]) return;
  TF_Operation *oper = TF_FinishOperation(s->descs[which], s->status);
  s->descs[which] = NULL;
  check(s);
  FUZZ_CHECK((oper != NULL) == (TF_GetCode(s->status) == TF_OK), "TF_FinishOperation: %s",
             TF_Message(s->status));
}

static void add_input(Slots *s) {
  TF_OperationDescription *desc = description(s);
  TF_Output list[MAX_ARGS];
  int kind = choose(s, 4), count = outputs(s, graph(s), list);
  if (!desc) return;
  if (kind == 0) TF_AddInputList(desc, list, count);
  if (kind == 1 && count > 0) TF_AddControlInput(desc, list[0].oper);
  if (kind >= 2 && count > 0) TF_AddInput(desc, list[0]);
}

static void set_scalar_attr(Slots *s) {
  TF_OperationDescription *desc = description(s);
  const char *attr = attr_name(s);
  int64_t dims[MAX_ARGS];
  if (!desc) return;
  switch (choose(s, 9)) {
    case 0: TF_SetAttrType(desc, attr, type(s)); break;
    case 1: TF_SetAttrInt(desc, attr, (int64_t)choose(s, 8) - 2); break;
    case 2: TF_SetAttrFloat(desc, attr, (float)choose(s, 8)); break;
    case 3: TF_SetAttrBool(desc, attr, (unsigned char)choose(s, 3)); break;
    case 4: TF_SetAttrString(desc, attr, name(s), 1); break;
    case 5: TF_SetAttrFuncName(desc, attr, "f", (size_t)choose(s, 2)); break;
    case 6: TF_SetAttrPlaceholder(desc, attr, name(s)); break;
    case 7: TF_SetDevice(desc, name(s)); break;
    default: {
      int rank = partial_shape(s, dims);
      TF_SetAttrShape(desc, attr, dims, rank);
    }
  }
}

static void set_list_attr(Slots *s) {
  TF_OperationDescription *desc = description(s);
  const char *attr = attr_name(s);
  int count = choose(s, MAX_ARGS), ranks[MAX_ARGS];
  TF_DataType types[MAX_ARGS];
  int64_t ints[MAX_ARGS], dims[MAX_ARGS][MAX_ARGS];
  const int64_t *shapes[MAX_ARGS];
  const void *strings[MAX_ARGS];
  size_t lengths[MAX_ARGS];
  if (!desc) return;
  for (int i = 0; i < count; i++) {
    types[i] = type(s);
    ints[i] = choose(s, 5);
    strings[i] = name(s);
    lengths[i] = strlen(strings[i]);
    ranks[i] = partial_shape(s, dims[i]);
    shapes[i] = dims[i];
  }
  switch (choose(s, 4)) {
    case 0: TF_SetAttrTypeList(desc, attr, types, count); break;
    case 1: TF_SetAttrIntList(desc, attr, ints, count); break;
    case 2: TF_SetAttrStringList(desc, attr, strings, lengths, count); break;
    default: TF_SetAttrShapeList(desc, attr, shapes, ranks, count);
  }
}

static void set_message_attr(Slots *s) {
  TF_OperationDescription *desc = description(s);
  const char *attr = attr_name(s);
  TF_Tensor *tensor = s->tensors[slot(s)];
  Str bytes = fuzz_bytes(&s->in, (size_t)choose(s, 24));
  TF_Tensor *list[] = {tensor, tensor};
  if (!desc) return;
  switch (choose(s, 5)) {
    case 0: TF_SetAttrValueProto(desc, attr, bytes.data, bytes.length, s->status); break;
    case 1: TF_SetAttrTensorShapeProto(desc, attr, bytes.data, bytes.length, s->status); break;
    case 2:
      if (tensor) TF_SetAttrTensorList(desc, attr, list, 2, s->status);
      break;
    default:
      if (!tensor) return;
      TF_SetAttrTensor(desc, "value", tensor, s->status);
      TF_SetAttrType(desc, "dtype", TF_TensorType(tensor));
  }
  check(s);
}

/* A whole node in one call, because sequences of single bytes would rarely make one. */
static void add_simple_node(Slots *s) {
  static const char *const ops[] = {"Add",  "MatMul",  "Mul",   "Identity",
                                    "Tanh", "Reshape", "Shape", "ReadVariableOp"};
  TF_Graph *g = graph(s);
  int kind = choose(s, 10);
  TF_OperationDescription *desc = TF_NewOperation(g,
                                                  kind < 8    ? ops[kind]
                                                  : kind == 8 ? "Placeholder"
                                                              : "VarHandleOp",
                                                  name(s));
  for (int i = 0; i < (kind < 8 ? kind < 3 || kind == 5 ? 2 : 1 : 0); i++) {
    TF_Output input = output(s, g);
    if (input.oper) TF_AddInput(desc, input);
  }
  int64_t dims[MAX_ARGS];
  if (kind >= 7) TF_SetAttrType(desc, "dtype", TF_FLOAT);
  if (kind >= 8) {
    int rank = partial_shape(s, dims);
    TF_SetAttrShape(desc, "shape", dims, rank);
  }
  TF_FinishOperation(desc, s->status);
  check(s);
}

/* --- calls: queries and changes --- */

static void look_at_operation(Slots *s) {
  TF_Operation *oper = operation(s, graph(s)), *others[MAX_ARGS];
  TF_Output list[MAX_ARGS];
  TF_Input consumers[MAX_ARGS];
  if (!oper) return;
  int index = choose(s, 3);
  if (index < TF_OperationNumInputs(oper)) TF_OperationInput((TF_Input){oper, index});
  if (index < TF_OperationNumOutputs(oper)) {
    TF_OperationOutputNumConsumers((TF_Output){oper, index});
    TF_OperationOutputConsumers((TF_Output){oper, index}, consumers, choose(s, MAX_ARGS));
    TF_OperationOutputType((TF_Output){oper, index});
  }
  TF_OperationAllInputs(oper, list, choose(s, MAX_ARGS));
  TF_OperationGetControlInputs(oper, others, choose(s, MAX_ARGS));
  TF_OperationGetControlOutputs(oper, others, choose(s, MAX_ARGS));
  TF_OperationOutputListLength(oper, name(s), s->status);
  check(s);
  TF_OperationInputListLength(oper, name(s), s->status);
  check(s);
  TF_OperationToNodeDef(oper, new_buffer(s), s->status);
  check(s);
}

static void read_attr(Slots *s) {
  TF_Operation *oper = operation(s, graph(s));
  const char *attr = attr_name(s);
  int room = choose(s, MAX_ARGS);
  char text[MAX_ARGS];
  int64_t ints[MAX_ARGS];
  TF_DataType types[MAX_ARGS];
  void *strings[MAX_ARGS];
  size_t lengths[MAX_ARGS];
  int64_t *shapes[MAX_ARGS], storage[MAX_ARGS];
  int ranks[MAX_ARGS];
  TF_Tensor *tensor = NULL;
  if (!oper) return;
  TF_OperationGetAttrMetadata(oper, attr, s->status);
  check(s);
  switch (choose(s, 10)) {
    case 0: TF_OperationGetAttrString(oper, attr, text, (size_t)room, s->status); break;
    case 1:
      TF_OperationGetAttrStringList(oper, attr, strings, lengths, room, text, (size_t)room, s->status);
      break;
    case 2: TF_OperationGetAttrIntList(oper, attr, ints, room, s->status); break;
    case 3: TF_OperationGetAttrTypeList(oper, attr, types, room, s->status); break;
    case 4: TF_OperationGetAttrShape(oper, attr, ints, room, s->status); break;
    case 5: TF_OperationGetAttrShapeList(oper, attr, shapes, ranks, room, storage, room, s->status); break;
    case 6: TF_OperationGetAttrType(oper, attr, types, s->status); break;
    case 7: TF_OperationGetAttrTensorShapeProto(oper, attr, new_buffer(s), s->status); break;
    case 8: TF_OperationGetAttrValueProto(oper, attr, new_buffer(s), s->status); break;
    default: TF_OperationGetAttrTensor(oper, attr, &tensor, s->status); keep_tensor(s, tensor);
  }
  check(s);
}

static void set_shape(Slots *s) {
  TF_Graph *g = graph(s);
  TF_Output of = output(s, g);
  int64_t dims[MAX_ARGS];
  int rank = partial_shape(s, dims);
  if (!of.oper) return;
  TF_GraphSetTensorShape(g, of, dims, rank, s->status);
  check(s);
  rank = TF_GraphGetTensorNumDims(g, of, s->status);
  if (rank >= 0 && rank <= MAX_ARGS) TF_GraphGetTensorShape(g, of, dims, rank, s->status);
  check(s);
}

static void change_graph(Slots *s) {
  TF_Graph *g = graph(s);
  TF_Output source = output(s, g);
  TF_Operation *oper = operation(s, g);
  TF_Buffer *buffer = s->buffers[slot(s)];
  if (!oper || !source.oper) return;
  switch (choose(s, 6)) {
    case 0: TF_UpdateEdge(g, source, (TF_Input){oper, choose(s, 3)}, s->status); break;
    case 1: TF_AddOperationControlInput(g, oper, source.oper); break;
    case 2: TF_RemoveAllControlInputs(g, oper); break;
    case 3: TF_SetRequestedDevice(g, oper, name(s)); break;
    case 4: TF_ClearAttr(g, oper, attr_name(s), s->status); break;
    default:
      if (buffer) TF_SetAttr(g, oper, attr_name(s), buffer, s->status);
  }
  check(s);
}

/* --- calls: tensors and buffers --- */

static void make_tensor(Slots *s) {
  int64_t dims[MAX_ARGS];
  TF_DataType of = type(s);
  int rank = shape(s, dims);
  int64_t count = 1;
  for (int i = 0; i < rank; i++) count *= dims[i];
  TF_Tensor *tensor = TF_AllocateTensor(of, dims, rank, (size_t)count * TF_DataTypeSize(of));
  if (tensor && dtype_is_valid((int)of) && dtype_is_pod((DataType)of))
    memset(TF_TensorData(tensor), choose(s, 3), TF_TensorByteSize(tensor));
  keep_tensor(s, tensor);
}

static void use_tensor(Slots *s) {
  TF_Tensor *tensor = s->tensors[slot(s)], *other = s->tensors[slot(s)];
  int64_t dims[MAX_ARGS];
  int rank = shape(s, dims);
  if (!tensor || !other) return;
  for (int i = 0; i < TF_NumDims(tensor); i++) TF_Dim(tensor, i);
  TF_TensorElementCount(tensor);
  if (choose(s, 2)) TF_TensorBitcastFrom(tensor, type(s), other, dims, rank, s->status);
  check(s);
}

static void fill_buffer_from_input(Slots *s) {
  Str bytes = fuzz_bytes(&s->in, (size_t)choose(s, 64));
  TF_Buffer **place = &s->buffers[slot(s)];
  TF_DeleteBuffer(*place);
  *place = TF_NewBufferFromString(bytes.data, bytes.length);
}

/* --- calls: import and functions --- */

static void export_graph(Slots *s) {
  TF_Graph *g = graph(s);
  switch (choose(s, 3)) {
    case 0: TF_GraphGetOpDef(g, op_name(s), new_buffer(s), s->status); break;
    case 1: TF_GraphVersions(g, new_buffer(s), s->status); break;
    default: TF_GraphToGraphDef(g, new_buffer(s), s->status);
  }
  check(s);
}

static void set_import_options(Slots *s, TF_ImportGraphDefOptions *options, TF_Graph *g) {
  for (int count = choose(s, 6); count > 0; count--) {
    TF_Output mapped = output(s, g);
    switch (choose(s, 8)) {
      case 0: TF_ImportGraphDefOptionsSetPrefix(options, name(s)); break;
      case 1: TF_ImportGraphDefOptionsSetUniquifyNames(options, (unsigned char)choose(s, 2)); break;
      case 2: TF_ImportGraphDefOptionsSetUniquifyPrefix(options, (unsigned char)choose(s, 2)); break;
      case 3: TF_ImportGraphDefOptionsAddReturnOutput(options, name(s), choose(s, 3)); break;
      case 4: TF_ImportGraphDefOptionsAddReturnOperation(options, name(s)); break;
      case 5:
        if (mapped.oper) TF_ImportGraphDefOptionsAddInputMapping(options, name(s), choose(s, 2), mapped);
        break;
      case 6:
        if (mapped.oper) TF_ImportGraphDefOptionsAddControlDependency(options, mapped.oper);
        break;
      default:
        if (mapped.oper) TF_ImportGraphDefOptionsRemapControlDependency(options, name(s), mapped.oper);
    }
  }
}

static void import_graph(Slots *s) {
  TF_Graph *g = graph(s);
  TF_Buffer *buffer = s->buffers[slot(s)];
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  if (buffer && options) {
    set_import_options(s, options, g);
    s->has_loops = true; /* the bytes may name any op */
    TF_ImportGraphDefResults *results = TF_GraphImportGraphDefWithResults(g, buffer, options, s->status);
    check(s);
    FUZZ_CHECK((results != NULL) == (TF_GetCode(s->status) == TF_OK), "an import: %s", TF_Message(s->status));
    int count, *indexes;
    TF_Output *returned;
    TF_Operation **opers;
    const char **names;
    if (results) {
      TF_ImportGraphDefResultsReturnOutputs(results, &count, &returned);
      TF_ImportGraphDefResultsReturnOperations(results, &count, &opers);
      TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &count, &names, &indexes);
      TF_DeleteImportGraphDefResults(results);
    }
  }
  TF_DeleteImportGraphDefOptions(options);
}

static void make_function(Slots *s) {
  TF_Graph *g = graph(s);
  TF_Output inputs[MAX_ARGS], results[MAX_ARGS];
  const TF_Operation *opers[MAX_ARGS];
  int num_inputs = outputs(s, g, inputs), num_results = outputs(s, g, results), num_opers = choose(s, 3) - 1;
  for (int i = 0; i < num_opers; i++) opers[i] = operation(s, g);
  if (num_opers > 0 && !opers[0]) num_opers = 0;
  TF_Function *function =
      TF_GraphToFunction(g, choose(s, 2) ? "f" : name(s), (unsigned char)choose(s, 2), num_opers, opers,
                         num_inputs, inputs, num_results, results, NULL, NULL, NULL, s->status);
  check(s);
  FUZZ_CHECK((function != NULL) == (TF_GetCode(s->status) == TF_OK), "TF_GraphToFunction: %s",
             TF_Message(s->status));
  keep_function(s, function);
}

static void use_function(Slots *s) {
  TF_Function *function = s->functions[slot(s)], *gradient = s->functions[slot(s)];
  TF_Graph *g = graph(s);
  TF_Buffer *buffer = s->buffers[slot(s)];
  TF_Function *all[MAX_ARGS];
  if (!function) return;
  switch (choose(s, 7)) {
    case 0: TF_FunctionToFunctionDef(function, new_buffer(s), s->status); break;
    case 1:
      if (buffer) TF_FunctionSetAttrValueProto(function, name(s), buffer->data, buffer->length, s->status);
      break;
    case 2: TF_FunctionGetAttrValueProto(function, name(s), new_buffer(s), s->status); break;
    case 3: TF_GraphRemoveFunction(g, TF_FunctionName(function), s->status); break;
    case 4: {
      int count = TF_GraphGetFunctions(g, all, choose(s, MAX_ARGS), s->status);
      for (int i = 0; i < count; i++) TF_DeleteFunction(all[i]);
      break;
    }
    case 5:
      if (buffer) keep_function(s, TF_FunctionImportFunctionDef(buffer->data, buffer->length, s->status));
      break;
    default: TF_GraphCopyFunction(g, function, choose(s, 3) ? NULL : gradient, s->status);
  }
  check(s);
}

/* --- calls: gradients and sessions --- */

static void add_gradients(Slots *s) {
  TF_Graph *g = graph(s);
  TF_Output ys[MAX_ARGS], xs[MAX_ARGS], dxs[MAX_ARGS], dys[MAX_ARGS];
  int ny = outputs(s, g, ys), nx = outputs(s, g, xs);
  bool with_dys = choose(s, 4) == 0;
  for (int i = 0; i < ny && with_dys; i++) dys[i] = output(s, g);
  if (ny == 0 || nx == 0) return;
  TF_AddGradientsWithPrefix(g, choose(s, 2) ? NULL : name(s), ys, ny, xs, nx, with_dys ? dys : NULL,
                            s->status, dxs);
  check(s);
}

static void change_session(Slots *s) {
  int which = choose(s, NUM_GRAPHS);
  switch (choose(s, 4)) {
    case 0:
      if (s->sessions[which]) TF_CloseSession(s->sessions[which], s->status);
      break;
    case 1:
      if (s->sessions[which]) TF_ExtendSession(s->sessions[which], s->status);
      break;
    default:
      if (s->sessions[which]) TF_DeleteSession(s->sessions[which], s->status);
      s->sessions[which] = TF_NewSession(s->graphs[which], NULL, s->status);
  }
  check(s);
}

static void run_session(Slots *s) {
  int which = choose(s, NUM_GRAPHS);
  TF_Graph *g = choose(s, 16) ? s->graphs[which] : graph(s);
  TF_Output feeds[MAX_ARGS], fetches[MAX_ARGS];
  TF_Tensor *values[MAX_ARGS], *results[MAX_ARGS] = {NULL};
  int num_feeds = outputs(s, g, feeds), num_fetches = outputs(s, g, fetches), num_targets = choose(s, 2);
  const TF_Operation *target = operation(s, g);
  for (int i = 0; i < num_feeds; i++) values[i] = s->tensors[slot(s)];
  while (num_feeds > 0 && !values[num_feeds - 1]) num_feeds--;
  for (int i = 0; i < num_feeds; i++) {
    if (!values[i]) return;
  }
  if (!s->sessions[which] || s->has_loops) return;
  TF_SessionRun(s->sessions[which], NULL, feeds, values, num_feeds, fetches, results, num_fetches, &target,
                target ? num_targets : 0, NULL, s->status);
  check(s);
  for (int i = 0; i < num_fetches; i++) {
    FUZZ_CHECK((results[i] != NULL) == (TF_GetCode(s->status) == TF_OK), "TF_SessionRun: %s",
               TF_Message(s->status));
    if (results[i]) keep_tensor(s, results[i]);
  }
}

static void evaluate_constant(Slots *s) {
  TF_Graph *g = graph(s);
  TF_Output of = output(s, g);
  TF_Tensor *result = NULL;
  if (!of.oper) return;
  if (TF_TryEvaluateConstant(g, of, &result, s->status)) keep_tensor(s, result);
  check(s);
}

static void delete_graph(Slots *s) {
  int which = choose(s, NUM_GRAPHS);
  if (choose(s, 8) || s->descs[which]) return;
  if (s->sessions[which]) TF_DeleteSession(s->sessions[which], s->status);
  s->sessions[which] = NULL;
  TF_DeleteGraph(s->graphs[which]);
  s->graphs[which] = TF_NewGraph();
}

static void (*const kCalls[])(Slots *) = {
    begin_operation, finish_operation, add_input,
    add_input,       set_scalar_attr,  set_scalar_attr,
    set_list_attr,   set_message_attr, add_simple_node,
    add_simple_node, add_simple_node,  look_at_operation,
    read_attr,       set_shape,        change_graph,
    make_tensor,     use_tensor,       fill_buffer_from_input,
    export_graph,    import_graph,     make_function,
    use_function,    add_gradients,    change_session,
    run_session,     run_session,      evaluate_constant,
    delete_graph,
};

static void end_all(Slots *s) {
  for (int i = 0; i < NUM_SLOTS; i++) {
    TF_DeleteTensor(s->tensors[i]);
    TF_DeleteBuffer(s->buffers[i]);
    TF_DeleteFunction(s->functions[i]);
  }
  for (int i = 0; i < NUM_GRAPHS; i++) {
    if (s->descs[i]) TF_FinishOperation(s->descs[i], s->status);
    /* A graph may be deleted before its session. */
    TF_DeleteGraph(s->graphs[i]);
    if (s->sessions[i]) TF_DeleteSession(s->sessions[i], s->status);
  }
  TF_DeleteStatus(s->status);
}

static void run(const uint8_t *bytes, size_t size) {
  Slots s = {.in = {bytes, bytes + size}, .status = TF_NewStatus()};
  for (int i = 0; i < NUM_GRAPHS; i++) s.graphs[i] = TF_NewGraph();
  if (!s.status || !s.graphs[0] || !s.graphs[1]) return;
  for (int calls = 0; calls < MAX_CALLS && s.in.at < s.in.end; calls++) {
    kCalls[choose(&s, sizeof kCalls / sizeof *kCalls)](&s);
    TF_SetStatus(s.status, TF_OK, "");
  }
  end_all(&s);
}

const FuzzTarget k_c_api_fuzz = {"c_api", run, NULL};
