/* Every registered op with random attrs and random inputs: errors are fine, but nothing may crash, hang or
 * leak. Successful runs must have the declared types, the inferred shapes, the same result from a session and
 * from the kernel alone, and gradients of the inputs' shapes.
 *
 * For longer runs and for repeating a failure:
 *   TFCORE_FUZZ_SEED=7 TFCORE_FUZZ_ROUNDS=2000 TFCORE_FUZZ_OP=Tile TFCORE_FUZZ_TRACE=1 \
 *     test_c_api --filter random_nodes
 */
#include <inttypes.h>
#include <time.h>

#include "base/file_store.h"
#include "base/log.h"
#include "c_api/c_api_fixture.h"
#include "c_api/c_api_internal.h"
#include "c_api/random_values.h"
#include "runtime/thread_pool.h"

enum { MAX_INPUTS = 16, MAX_OUTPUTS = 64, MAX_LIST = 4, DEFAULT_ROUNDS = 60, SLOW_SECONDS = 10 };

typedef struct TypeList {
  TF_DataType types[MAX_LIST];
  int count;
} TypeList;

/* One node, its inputs, and the random choices for it. */
typedef struct Case {
  Random random;
  const Op *op;
  const OpDef *def;
  Fixture f;
  TF_Session *session;
  TF_DataType types[OP_MAX_ATTRS]; /* by attr */
  int64_t ints[OP_MAX_ATTRS];
  TypeList lists[OP_MAX_ATTRS];
  TF_Output inputs[MAX_INPUTS], feeds[MAX_INPUTS];
  TF_Tensor *input_values[MAX_INPUTS];
  TF_Tensor *feed_values[MAX_INPUTS]; /* borrowed; NULL for a resource */
  int num_inputs, num_feeds;
  int64_t base_dims[RANDOM_MAX_RANK]; /* many inputs have this shape or a similar one */
  int base_rank;
  bool plain; /* this case is likely to succeed */
  bool tidy;  /* and its inputs have the shapes that their names suggest */
  bool too_many;
} Case;

static int64_t num_run, num_succeeded, num_gradients;

/* ---- attrs ---- */

static int find_attr(const Case *c, const char *name) {
  for (size_t i = 0; i < c->def->n_attr; i++) {
    if (strcmp(c->def->attr[i]->name, name) == 0) return (int)i;
  }
  return -1;
}

/* Whether inputs determine the attr. */
static bool is_inferred(const Case *c, const char *name) {
  for (size_t i = 0; i < c->def->n_input_arg; i++) {
    const ArgDef *arg = c->def->input_arg[i];
    if (strcmp(arg->type_attr, name) == 0 || strcmp(arg->number_attr, name) == 0 ||
        strcmp(arg->type_list_attr, name) == 0)
      return true;
  }
  return false;
}

/* Usually a type that the attr allows and for which a kernel exists. */
static TF_DataType choose_type(Case *c, const AttrDef *attr) {
  static const TF_DataType usual[] = {TF_FLOAT, TF_FLOAT, TF_DOUBLE, TF_INT32,
                                      TF_INT64, TF_BOOL,  TF_STRING, TF_HALF};
  if (!c->plain && one_in(&c->random, 30)) return (TF_DataType)(1 + random_below(&c->random, NUM_DTYPES - 1));
  TF_DataType type = TF_FLOAT;
  for (int tries = 0; tries < 8; tries++) {
    const AttrListValue *allowed = attr->allowed_values ? attr->allowed_values->list : NULL;
    type = allowed && allowed->n_type > 0
               ? (TF_DataType)allowed->type[random_below(&c->random, (int)allowed->n_type)]
               : usual[random_below(&c->random, sizeof usual / sizeof *usual)];
    if (op_has_kernel(c->op, (DataType)type)) break;
  }
  return type;
}

static void choose_attrs(Case *c) {
  for (size_t i = 0; i < c->def->n_attr; i++) {
    const AttrDef *attr = c->def->attr[i];
    c->types[i] = choose_type(c, attr);
    int64_t least = attr->has_minimum ? attr->minimum : 0;
    bool sane = c->plain || is_inferred(c, attr->name) || !one_in(&c->random, 4);
    c->ints[i] = sane ? least + random_below(&c->random, 3) : random_int(&c->random);
    c->lists[i].count = (int)least + random_below(&c->random, MAX_LIST - 1);
    if (c->lists[i].count > MAX_LIST) c->lists[i].count = MAX_LIST;
    for (int k = 0; k < c->lists[i].count; k++) c->lists[i].types[k] = choose_type(c, attr);
  }
}

static void set_string(Case *c, TF_OperationDescription *desc, const AttrDef *attr) {
  const AttrListValue *allowed = attr->allowed_values ? attr->allowed_values->list : NULL;
  if (allowed && allowed->n_s > 0 && !one_in(&c->random, 20)) {
    ProtobufCBinaryData s = allowed->s[random_below(&c->random, (int)allowed->n_s)];
    TF_SetAttrString(desc, attr->name, s.data, s.len);
  } else {
    TF_SetAttrString(desc, attr->name, "name\xff", (size_t)random_below(&c->random, 6));
  }
}

static void set_shape(Case *c, TF_OperationDescription *desc, const char *name) {
  int64_t dims[RANDOM_MAX_RANK];
  int rank = one_in(&c->random, 5) ? -1 : random_rank(&c->random);
  if (rank > 0) random_dims(&c->random, rank, dims);
  for (int i = 0; i < rank; i++) {
    if (one_in(&c->random, 5)) dims[i] = random_int(&c->random);
  }
  TF_SetAttrShape(desc, name, dims, rank);
}

static void set_tensor(Case *c, TF_OperationDescription *desc, const char *name) {
  int64_t dims[RANDOM_MAX_RANK];
  int rank = random_rank(&c->random);
  random_dims(&c->random, rank, dims);
  int dtype_attr = find_attr(c, "dtype");
  TF_Tensor tensor = {0};
  if (!random_tensor(&c->random, dtype_attr >= 0 ? (DataType)c->types[dtype_attr] : DT_FLOAT, rank, dims,
                     &tensor.tensor))
    return;
  TF_SetAttrTensor(desc, name, &tensor, c->f.status); /* refuses values that a TensorProto cannot represent */
  tensor_clear(&tensor.tensor);
}

static void set_attr(Case *c, TF_OperationDescription *desc, size_t i) {
  const AttrDef *attr = c->def->attr[i];
  const char *name = attr->name, *kind = attr->type;
  int count = random_below(&c->random, 6);
  int64_t ints[6];
  float floats[6];
  unsigned char bools[6];
  for (int k = 0; k < 6; k++) {
    ints[k] = random_int(&c->random);
    floats[k] = (float)random_below(&c->random, 9) - 4;
    bools[k] = (unsigned char)random_below(&c->random, 2);
  }
  if (strcmp(kind, "type") == 0) TF_SetAttrType(desc, name, c->types[i]);
  if (strcmp(kind, "int") == 0) TF_SetAttrInt(desc, name, c->ints[i]);
  if (strcmp(kind, "float") == 0) TF_SetAttrFloat(desc, name, one_in(&c->random, 5) ? NAN : floats[0]);
  if (strcmp(kind, "bool") == 0) TF_SetAttrBool(desc, name, bools[0]);
  if (strcmp(kind, "string") == 0) set_string(c, desc, attr);
  if (strcmp(kind, "shape") == 0) set_shape(c, desc, name);
  if (strcmp(kind, "tensor") == 0) set_tensor(c, desc, name);
  if (strcmp(kind, "func") == 0) TF_SetAttrFuncName(desc, name, "F", 1);
  if (strcmp(kind, "list(type)") == 0) TF_SetAttrTypeList(desc, name, c->lists[i].types, c->lists[i].count);
  if (strcmp(kind, "list(int)") == 0) TF_SetAttrIntList(desc, name, ints, count);
  if (strcmp(kind, "list(float)") == 0) TF_SetAttrFloatList(desc, name, floats, count);
  if (strcmp(kind, "list(bool)") == 0) TF_SetAttrBoolList(desc, name, bools, count);
}

static void set_attrs(Case *c, TF_OperationDescription *desc) {
  for (size_t i = 0; i < c->def->n_attr; i++) {
    const AttrDef *attr = c->def->attr[i];
    if (is_inferred(c, attr->name) && (c->plain || !one_in(&c->random, 20))) continue;
    if (attr->default_value && one_in(&c->random, 2)) continue;
    if (!c->plain && one_in(&c->random, 50)) continue;
    set_attr(c, desc, i);
  }
}

/* ---- inputs ---- */

static bool is_one_of(const char *name, const char *const *names) {
  while (*names && strcmp(name, *names) != 0) names++;
  return *names != NULL;
}

/* The shapes that match in most ops with many inputs: scalars, one per channel, one per row, the others
 * alike. */
static int tidy_dims(const Case *c, const char *name, int64_t *dims) {
  static const char *const kScalars[] = {"lr",           "alpha",       "rho",
                                         "momentum",     "epsilon",     "l1",
                                         "l2",           "beta",        "beta1",
                                         "beta2",        "beta1_power", "beta2_power",
                                         "l2_shrinkage", "lr_power",    "logbase",
                                         "sign_decay",   "global_step", "prefix",
                                         "file_pattern", "tensor_name", "filename",
                                         "tag",          NULL};
  static const char *const kChannels[] = {"scale",           "offset",          "mean", "variance",
                                          "reserve_space_1", "reserve_space_2", NULL};
  if (is_one_of(name, kScalars)) return 0;
  memcpy(dims, c->base_dims, sizeof c->base_dims);
  if (c->base_rank > 0 && is_one_of(name, kChannels)) dims[0] = c->base_dims[c->base_rank - 1];
  return c->base_rank > 0 && (strcmp(name, "indices") == 0 || is_one_of(name, kChannels)) ? 1 : c->base_rank;
}

static int choose_dims(Case *c, const char *name, int64_t *dims) {
  if (c->tidy) return tidy_dims(c, name, dims);
  int choice = random_below(&c->random, 10);
  if (choice == 9) return 0;
  if (choice >= 6 && !(c->plain && one_in(&c->random, 2))) {
    int rank = random_rank(&c->random);
    random_dims(&c->random, rank, dims);
    return rank;
  }
  memcpy(dims, c->base_dims, sizeof c->base_dims);
  for (int i = 0; i < c->base_rank && choice < 2; i++) {
    if (one_in(&c->random, 2)) dims[i] = 1;
  }
  return c->base_rank;
}

static void set_int(Tensor *tensor, int64_t i, int64_t value) {
  if (tensor->dtype == DT_INT32) {
    tensor_i32(tensor)[i] = (int32_t)value;
  } else {
    tensor_i64(tensor)[i] = value;
  }
}

/* Typical meanings of integer inputs: an axis, a shape, a permutation, sizes or offsets for each
 * dimension. */
static bool meaningful_ints(Case *c, DataType type, Tensor *tensor) {
  int rank = c->base_rank, meaning = random_below(&c->random, 6);
  int64_t count = rank;
  Status status;
  status_init(&status);
  if (!CHECK_OK(tensor_allocate_dims(tensor, type, meaning == 0 ? 0 : 1, &count, NULL, &status), status))
    return false;
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) {
    int64_t value = random_below(&c->random, 3) - (meaning == 5);
    if (meaning == 0) value = random_below(&c->random, 2 * rank + 1) - rank;
    if (meaning == 1) value = c->base_dims[i];
    if (meaning == 2) value = rank - 1 - i;
    if (meaning == 3) value = c->base_dims[i] > 0 ? random_below(&c->random, (int)c->base_dims[i]) : 0;
    set_int(tensor, i, value);
  }
  return true;
}

/* As many row numbers as there are rows. */
static bool row_numbers(Case *c, DataType type, Tensor *tensor) {
  int64_t rows = c->base_rank > 0 ? c->base_dims[0] : 1;
  Status status;
  status_init(&status);
  if (!CHECK_OK(tensor_allocate_dims(tensor, type, 1, &rows, NULL, &status), status)) return false;
  for (int64_t i = 0; i < rows; i++) set_int(tensor, i, random_below(&c->random, (int)rows));
  return true;
}

/* Most variables have a value. */
static void add_variable(Case *c, const char *name, const ArgDef *arg) {
  bool by_reference = arg->is_ref;
  int type_attr = find_attr(c, "dtype") >= 0 ? find_attr(c, "dtype") : find_attr(c, "T");
  TF_DataType type = type_attr >= 0 && (c->plain || !one_in(&c->random, 10)) ? c->types[type_attr] : TF_FLOAT;
  if (!dtype_is_pod((int)type)) type = TF_FLOAT;
  int64_t dims[RANDOM_MAX_RANK];
  int rank = choose_dims(c, arg->name, dims);
  TF_OperationDescription *desc =
      TF_NewOperation(c->f.graph, by_reference ? "VariableV2" : "VarHandleOp", name);
  TF_SetAttrType(desc, "dtype", type);
  bool declared = !one_in(&c->random, 2);
  TF_SetAttrShape(desc, "shape", dims, declared ? rank : -1);
  TF_Output handle = finish(&c->f, desc);
  c->inputs[c->num_inputs++] = handle;
  if (one_in(&c->random, 5)) return;
  TF_Tensor value = {0};
  if (!random_tensor(&c->random, (DataType)type, rank, dims, &value.tensor)) return;
  TF_Tensor *fed = &value;
  char text[32];
  snprintf(text, sizeof text, "%s_start", name);
  TF_Output start = placeholder_of(&c->f, text, type, -1, NULL);
  snprintf(text, sizeof text, "%s_assign", name);
  desc = TF_NewOperation(c->f.graph, by_reference ? "Assign" : "AssignVariableOp", text);
  TF_AddInput(desc, handle);
  TF_AddInput(desc, start);
  if (by_reference) TF_SetAttrBool(desc, "validate_shape", declared);
  const TF_Operation *assign = finish(&c->f, desc).oper;
  TF_SessionRun(c->session, NULL, &start, &fed, 1, NULL, NULL, 0, &assign, 1, NULL, c->f.status);
  CHECK_TF_OK(c->f.status);
  tensor_clear(&value.tensor);
}

static void add_input(Case *c, TF_DataType type, const ArgDef *arg) {
  if (c->num_inputs == MAX_INPUTS || !dtype_is_valid((int)type) || dtype_is_ref((int)type)) {
    c->too_many = true;
    return;
  }
  char name[16];
  snprintf(name, sizeof name, "in%d", c->num_inputs);
  if (type == TF_RESOURCE || arg->is_ref) {
    add_variable(c, name, arg);
    return;
  }
  TF_Tensor *value = mem_calloc(1, sizeof *value);
  if (!CHECK(value)) return;
  c->input_values[c->num_inputs] = value;
  int64_t dims[RANDOM_MAX_RANK];
  bool is_int = type == TF_INT32 || type == TF_INT64;
  if (c->tidy && is_int && strcmp(arg->name, "indices") == 0) {
    if (!row_numbers(c, (DataType)type, &value->tensor)) return;
  } else if (is_int && c->num_inputs + (c->def->n_input_arg == 1) > 0 &&
             !one_in(&c->random, c->plain ? 10 : 2)) {
    if (!meaningful_ints(c, (DataType)type, &value->tensor)) return;
  } else {
    int dims_chosen = choose_dims(c, arg->name, dims);
    if (!random_tensor(&c->random, (DataType)type, dims_chosen, dims, &value->tensor)) return;
  }
  int rank = TF_NumDims(value);
  for (int i = 0; i < rank; i++) dims[i] = TF_Dim(value, i);
  if (type != TF_VARIANT && one_in(&c->random, 2)) {
    TF_OperationDescription *desc = TF_NewOperation(c->f.graph, "Const", name);
    TF_SetAttrType(desc, "dtype", type);
    TF_SetAttrTensor(desc, "value", value, c->f.status);
    c->inputs[c->num_inputs++] = finish(&c->f, desc);
    return;
  }
  for (int i = 0; i < rank; i++) {
    if (one_in(&c->random, 2)) dims[i] = -1;
  }
  TF_Output fed = placeholder_of(&c->f, name, type, one_in(&c->random, 2) ? -1 : rank, dims);
  c->feeds[c->num_feeds] = fed;
  c->feed_values[c->num_feeds++] = value;
  c->inputs[c->num_inputs++] = fed;
}

static TF_DataType arg_type(const Case *c, const ArgDef *arg) {
  return arg->type_attr[0] ? c->types[find_attr(c, arg->type_attr)] : (TF_DataType)arg->type;
}

static void add_inputs(Case *c, TF_OperationDescription *desc) {
  for (size_t i = 0; i < c->def->n_input_arg && !c->too_many; i++) {
    const ArgDef *arg = c->def->input_arg[i];
    int first = c->num_inputs;
    if (arg->type_list_attr[0]) {
      const TypeList *list = &c->lists[find_attr(c, arg->type_list_attr)];
      for (int k = 0; k < list->count; k++) add_input(c, list->types[k], arg);
    } else if (arg->number_attr[0]) {
      int64_t count = c->ints[find_attr(c, arg->number_attr)];
      for (int64_t k = 0; k < count && !c->too_many; k++) add_input(c, arg_type(c, arg), arg);
    } else {
      add_input(c, arg_type(c, arg), arg);
    }
    if (c->too_many) return;
    bool is_list = arg->type_list_attr[0] || arg->number_attr[0];
    if (is_list) {
      TF_AddInputList(desc, c->inputs + first, c->num_inputs - first);
    } else {
      TF_AddInput(desc, c->inputs[first]);
    }
  }
}

/* ---- running ---- */

/* A complex number is NaN if one of its parts is NaN. */
static bool is_nan_at(const Tensor *tensor, int64_t i) {
  const uint16_t *halves = tensor->data;
  switch (tensor->dtype) {
    case DT_FLOAT: return isnan(tensor_f32(tensor)[i]);
    case DT_DOUBLE: return isnan(tensor_f64(tensor)[i]);
    case DT_HALF: return isnan(half_to_float(halves[i]));
    case DT_BFLOAT16: return isnan(bfloat16_to_float(halves[i]));
    case DT_COMPLEX64: return isnan(tensor_f32(tensor)[2 * i]) || isnan(tensor_f32(tensor)[2 * i + 1]);
    case DT_COMPLEX128: return isnan(tensor_f64(tensor)[2 * i]) || isnan(tensor_f64(tensor)[2 * i + 1]);
    default: return false;
  }
}

/* Compares bits, except of NaN: the bits of a NaN are not defined in wasm. */
static void check_same(const Tensor *got, const Tensor *want) {
  if (!CHECK_INT_EQ(got->dtype, want->dtype) || !CHECK(shape_equal(&got->shape, &want->shape)) ||
      !dtype_is_pod((int)got->dtype))
    return;
  size_t size = dtype_size((int)got->dtype);
  for (int64_t i = 0; i < tensor_num_elements(got); i++) {
    bool both_nan = is_nan_at(got, i) && is_nan_at(want, i);
    if (!both_nan &&
        !CHECK_MEM_EQ((char *)got->data + (size_t)i * size, (char *)want->data + (size_t)i * size, size))
      return;
  }
}

/* The inferred shape must hold for the value. */
static void check_inferred(Case *c, TF_Output output, const TF_Tensor *value) {
  CHECK_INT_EQ(TF_TensorType(value), dtype_base((int)TF_OperationOutputType(output)));
  /* TensorFlow takes the attr, or the input for a scalar, without a look at the value. */
  if (strcmp(c->def->name, "PlaceholderWithDefault") == 0 || strcmp(c->def->name, "LoopCond") == 0) return;
  /* TensorFlow takes two unknown sizes to agree, where they need not. */
  unsigned char strict = 1;
  TF_OperationGetAttrBool(output.oper, "incompatible_shape_error", &strict, c->f.status);
  if (!strict && TF_NumDims(value) == 0) return;
  /* These handles are scalars, and TensorFlow's inference says that they are pairs. */
  const char *op = TF_OperationOpType(output.oper);
  if (TF_TensorType(value) == TF_RESOURCE &&
      (strncmp(op, "Stack", 5) == 0 || strncmp(op, "TensorArray", 11) == 0 ||
       strcmp(op, "ResourceConditionalAccumulator") == 0))
    return;
  int64_t dims[SHAPE_MAX_RANK];
  int rank = TF_GraphGetTensorNumDims(c->f.graph, output, c->f.status);
  if (rank < 0 || !CHECK_INT_EQ(TF_NumDims(value), rank)) return;
  TF_GraphGetTensorShape(c->f.graph, output, dims, rank, c->f.status);
  for (int i = 0; i < rank; i++) {
    if (dims[i] >= 0) CHECK_INT_EQ(TF_Dim(value, i), dims[i]);
  }
}

static void check_error(const TF_Status *status) {
  TF_Code code = TF_GetCode(status);
  bool boundary = strstr(TF_Message(status), "no call frame") != NULL; /* _Arg and _Retval outside of
                                                                        * functions */
  boundary |= strncmp(TF_Message(status), "Mismatching ", 12) ==
              0; /* TensorFlow's internal errors for checkpoints of version 1 */
  boundary |=
      strstr(TF_Message(status), "to provide a rendezvous") != NULL; /* _Send and _Recv on their own */
  boundary |=
      strstr(TF_Message(status), "PNG encoding failed") != NULL; /* TensorFlow's error for large images */
  boundary |=
      strstr(TF_Message(status), "JPEG encoding failed") != NULL; /* and for those that are empty, too */
  boundary |= strncmp(TF_Message(status), "Invalid variable reference.", 27) == 0; /* TensorFlow's, too */
  if (code == TF_INTERNAL && !boundary) CHECK_STR_CONTAINS(TF_Message(status), "Cannot create a tensor with");
  CHECK(code == TF_INTERNAL || code == TF_INVALID_ARGUMENT || code == TF_NOT_FOUND ||
        code == TF_UNIMPLEMENTED || code == TF_RESOURCE_EXHAUSTED || code == TF_OUT_OF_RANGE ||
        code == TF_FAILED_PRECONDITION || (code == TF_ABORTED && strstr(TF_Message(status), "Abort_op")));
  CHECK(TF_Message(status)[0] != '\0');
}

static bool run(Case *c, const TF_Output *outputs, int num_outputs, const TF_Operation *target,
                TF_Tensor **values) {
  TF_SessionRun(c->session, NULL, c->feeds, c->feed_values, c->num_feeds, outputs, values, num_outputs,
                &target, target ? 1 : 0, NULL, c->f.status);
  if (TF_GetCode(c->f.status) == TF_OK) return true;
  check_error(c->f.status);
  return false;
}

static void delete_all(TF_Tensor **values, int count) {
  for (int i = 0; i < count; i++) {
    TF_DeleteTensor(values[i]);
    values[i] = NULL;
  }
}

/* A stateless node gives the same outside of any session. */
static void check_evaluated(Case *c, const Node *node, bool succeeded, TF_Tensor *const *values) {
  if (c->def->is_stateful || node_class_has_no_kernel(node->node_class)) return;
  const Tensor *inputs[MAX_INPUTS];
  Tensor outputs[MAX_OUTPUTS] = {{0}};
  for (int i = 0; i < c->num_inputs; i++) {
    if (!c->input_values[i]) return; /* a resource belongs to its session */
    inputs[i] = &c->input_values[i]->tensor;
  }
  Status status;
  status_init(&status);
  bool evaluated = op_evaluate(c->op, node->def, inputs, outputs, &status);
  bool out_of_memory =
      status.code == CODE_RESOURCE_EXHAUSTED || TF_GetCode(c->f.status) == TF_RESOURCE_EXHAUSTED;
  if (!out_of_memory && evaluated != succeeded) {
    CHECK_STR_EQ(evaluated ? "" : status.message, succeeded ? "" : TF_Message(c->f.status));
  }
  for (int i = 0; i < node->num_outputs && evaluated; i++) {
    if (succeeded) check_same(&values[i]->tensor, &outputs[i]);
    tensor_clear(&outputs[i]);
  }
}

/* Gradients have the shapes of their xs. */
static void run_gradients(Case *c, const TF_Output *outputs, int num_outputs) {
  TF_Output ys[MAX_OUTPUTS], xs[MAX_INPUTS], dxs[MAX_INPUTS];
  const TF_Tensor *x_values[MAX_INPUTS];
  TF_Tensor *values[MAX_INPUTS] = {NULL};
  int num_ys = 0, num_xs = 0;
  for (int i = 0; i < num_outputs; i++) {
    if (dtype_is_floating((int)TF_OperationOutputType(outputs[i]))) ys[num_ys++] = outputs[i];
  }
  for (int i = 0; i < c->num_inputs; i++) {
    if (!c->input_values[i] || !dtype_is_floating((int)TF_TensorType(c->input_values[i]))) continue;
    x_values[num_xs] = c->input_values[i];
    xs[num_xs++] = c->inputs[i];
  }
  if (num_ys == 0 || num_xs == 0) return;
  int before = num_operations(c->f.graph);
  TF_AddGradients(c->f.graph, ys, num_ys, xs, num_xs, NULL, c->f.status, dxs);
  if (TF_GetCode(c->f.status) != TF_OK) {
    check_error(c->f.status);
    CHECK_INT_EQ(num_operations(c->f.graph), before);
    return;
  }
  int count = 0;
  for (int i = 0; i < num_xs; i++) {
    if (!dxs[i].oper) continue;
    x_values[count] = x_values[i];
    dxs[count++] = dxs[i];
  }
  if (count == 0 || !run(c, dxs, count, NULL, values)) {
    if (count > 0 && setting("TFCORE_FUZZ_TRACE", 0)) printf("  gradient: %s\n", TF_Message(c->f.status));
    return;
  }
  num_gradients++;
  for (int i = 0; i < count; i++) {
    CHECK_INT_EQ(TF_TensorType(values[i]), TF_TensorType(x_values[i]));
    CHECK(shape_equal(&values[i]->tensor.shape, &x_values[i]->tensor.shape));
    check_inferred(c, dxs[i], values[i]);
  }
  delete_all(values, count);
}

/* An op with a reference input may change the variable. */
static bool has_effects(const Case *c) {
  bool effects = c->def->is_stateful;
  for (size_t i = 0; i < c->def->n_input_arg; i++) effects |= c->def->input_arg[i]->is_ref;
  return effects;
}

static void run_node(Case *c, TF_Operation *oper) {
  int num_outputs = TF_OperationNumOutputs(oper);
  if (num_outputs > MAX_OUTPUTS) return;
  TF_Output outputs[MAX_OUTPUTS];
  TF_Tensor *first[MAX_OUTPUTS] = {NULL}, *second[MAX_OUTPUTS] = {NULL};
  for (int i = 0; i < num_outputs; i++) outputs[i] = (TF_Output){oper, i};
  num_run++;
  bool ok = run(c, outputs, num_outputs, num_outputs ? NULL : oper, first);
  num_succeeded += ok;
  for (int i = 0; i < num_outputs && ok; i++) check_inferred(c, outputs[i], first[i]);
  check_evaluated(c, operation_node(oper), ok, first);
  bool again = run(c, outputs, num_outputs, num_outputs ? NULL : oper, second);
  if (!has_effects(c)) CHECK_INT_EQ(again, ok);
  for (int i = 0; i < num_outputs && ok && again && !has_effects(c); i++)
    check_same(&second[i]->tensor, &first[i]->tensor);
  delete_all(first, num_outputs);
  delete_all(second, num_outputs);
  if (ok) run_gradients(c, outputs, num_outputs);
}

static void build_and_run(Case *c) {
  c->plain = one_in(&c->random, 2);
  choose_attrs(c);
  c->tidy = c->plain && one_in(&c->random, 2);
  c->base_rank = c->tidy && one_in(&c->random, 2) ? 4 : random_rank(&c->random);
  random_dims(&c->random, c->base_rank, c->base_dims);
  TF_OperationDescription *desc = TF_NewOperation(c->f.graph, c->def->name, "node");
  add_inputs(c, desc);
  if (!c->too_many) set_attrs(c, desc);
  int before = num_operations(c->f.graph);
  TF_Operation *oper = TF_FinishOperation(desc, c->f.status);
  if (c->too_many) return;
  if (oper) {
    run_node(c, oper);
  } else {
    check_error(c->f.status);
    CHECK_INT_EQ(num_operations(c->f.graph), before);
    if (setting("TFCORE_FUZZ_TRACE", 0) > 1) printf("  building: %s\n", TF_Message(c->f.status));
  }
}

static void run_case(const Op *op, uint64_t seed, int round) {
  Case c = {.random = {seed ^ hash_bytes(op->def->name, strlen(op->def->name)) ^ ((uint64_t)round << 32)},
            .op = op,
            .def = op->def};
  CHECK_CONTEXT("TFCORE_FUZZ_OP=%s TFCORE_FUZZ_SEED=%" PRIu64 " round %d", op->def->name, seed, round);
  if (!begin(&c.f)) return;
  c.session = TF_NewSession(c.f.graph, NULL, c.f.status);
  clock_t start = clock();
  if (CHECK(c.session)) build_and_run(&c);
  CHECK(clock() - start < (clock_t)SLOW_SECONDS * CLOCKS_PER_SEC);
  TF_DeleteSession(c.session, c.f.status);
  delete_all(c.input_values, MAX_INPUTS);
  end(&c.f);
}

static void swallow(void *arg, const char *line) { (void)arg, (void)line; }

TEST(random_nodes_of_every_op_do_no_harm) {
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
  REQUIRE(mem_set_allocator(&kSmallBlocks));
  const FileStore *files = file_store();
  file_store_use(&kMemoryFiles); /* random file names must not create files */
  log_set_sink(swallow, NULL);   /* and random values are not printed */
  uint64_t seed = setting("TFCORE_FUZZ_SEED", 1);
  int rounds = (int)setting("TFCORE_FUZZ_ROUNDS", DEFAULT_ROUNDS);
  const char *only = getenv("TFCORE_FUZZ_OP");
  bool trace = setting("TFCORE_FUZZ_TRACE", 0) > 0;
  Status status;
  status_init(&status);
  REQUIRE(register_ops(&status));
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    const Op *op;
    if (only && only[0] && strcmp(op_registry_name(op_registry_global(), i), only) != 0) continue;
    if (!CHECK_OK(op_registry_look_up(op_registry_global(), op_registry_name(op_registry_global(), i), &op,
                                      &status),
                  status))
      continue;
    num_run = num_succeeded = num_gradients = 0;
    for (int round = 0; round < rounds; round++) {
      if (trace) printf("%s %d\n", op->def->name, round);
      if (trace) fflush(stdout);
      run_case(op, seed, round);
    }
    if (getenv("TFCORE_FUZZ_COUNTS")) {
      printf("%-36s built %4d  ran %4d  gradients %4d\n", op->def->name, (int)num_run, (int)num_succeeded,
             (int)num_gradients);
    }
  }
  CHECK_CONTEXT("%s", "");
  log_set_sink(NULL, NULL);
  file_memory_clear();
  file_store_use(files);
  op_registry_clear(op_registry_global());
  thread_pool_shut_down();
  CHECK(mem_set_allocator(NULL));
}
