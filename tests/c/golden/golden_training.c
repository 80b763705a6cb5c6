#include "golden_training.h"

#include <stdarg.h>
#include <stdio.h>

#include "c_api/c_api_internal.h"
#include "op/op_registry.h"

enum { NAME_CAPACITY = 128 };

/* A name of a node, in `text`. */
PRINTF_LIKE(2, 3)
static const char *name_of(char text[NAME_CAPACITY], const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(text, NAME_CAPACITY, format, args);
  va_end(args);
  return text;
}

/* A variable with the initial value `value`. */
static TF_Output make_variable(Training *training, const char *name, TF_Output value, int rank,
                               const int64_t *dims) {
  char assign[NAME_CAPACITY];
  TF_Output handle = variable(&training->f, name, rank, dims);
  TF_OperationDescription *desc =
      TF_NewOperation(training->f.graph, "AssignVariableOp", name_of(assign, "%s/assign", name));
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_AddInput(desc, handle);
  TF_AddInput(desc, value);
  training->initializers[training->num_initializers++] = finish(&training->f, desc).oper;
  return handle;
}

static const TensorProto *constant_value(const GraphDef *graph, const char *name) {
  for (size_t i = 0; i < graph->n_node; i++) {
    if (strcmp(graph->node[i]->name, name) != 0) continue;
    const AttrValue *value = node_def_attr(graph->node[i], "value");
    return value ? value->tensor : NULL;
  }
  return NULL;
}

bool training_make_variables(Training *training, TF_ImportGraphDefOptions *options) {
  const Tfcore__GoldenTraining *golden = training->golden->training;
  if (!CHECK(golden->n_variables <= TRAINING_MOST_VARIABLES)) return false;
  for (size_t i = 0; i < golden->n_variables; i++) {
    Tensor value = {0};
    Status status;
    status_init(&status);
    const TensorProto *proto = constant_value(training->golden->graph, golden->variables[i]);
    if (!CHECK(proto) || !CHECK_OK(tensor_from_proto(proto, &value, &status), status)) return false;
    int rank = value.shape.rank;
    int64_t dims[8];
    for (int j = 0; j < rank && j < 8; j++) dims[j] = shape_dim(&value.shape, j);
    TF_Tensor *taken = take_tensor(&value, &status);
    if (!CHECK(taken)) return false;
    char name[NAME_CAPACITY], part[NAME_CAPACITY];
    name_of(name, "training/variable%zu", i);
    TF_Output initial = constant_of(&training->f, name_of(part, "%s/initial", name), taken);
    training->handles[i] = make_variable(training, name, initial, rank, dims);
    training->values[i] = read_variable(&training->f, name_of(part, "%s/read", name), training->handles[i]);
    TF_ImportGraphDefOptionsAddInputMapping(options, golden->variables[i], 0, training->values[i]);
  }
  return true;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The scalar of that name, a constant; "beta1_power" is beta1 to the power of the step. */
static TF_Output scalar(Training *training, const char *node, const char *input) {
  const Tfcore__GoldenTraining *golden = training->golden->training;
  char wanted[NAME_CAPACITY], name[NAME_CAPACITY];
  bool power = ends_with(input, "_power");
  name_of(wanted, "%.*s", (int)(strlen(input) - (power ? strlen("_power") : 0)), input);
  for (size_t i = 0; i < golden->n_scalars; i++) {
    if (strcmp(golden->scalars[i]->name, wanted) != 0) continue;
    TF_Output value = constant(&training->f, name_of(name, "%s/%s", node, input), golden->scalars[i]->value);
    return power ? binary(&training->f, "Pow", name_of(name, "%s/%s_now", node, input), value, training->step)
                 : value;
  }
  harness_fail(__FILE__, __LINE__, "no scalar \"%s\"", wanted);
  return kNone;
}

/* A variable of zeros of the shape of variable `i`. */
static TF_Output slot(Training *training, size_t i, const char *node, const char *input) {
  char name[NAME_CAPACITY], zeros[NAME_CAPACITY];
  name_of(name, "%s/%s", node, input);
  int rank = TF_GraphGetTensorNumDims(training->f.graph, training->values[i], training->f.status);
  int64_t dims[8] = {0};
  TF_GraphGetTensorShape(training->f.graph, training->values[i], dims, rank, training->f.status);
  CHECK_TF_OK(training->f.status);
  return make_variable(training, name,
                       unary(&training->f, "ZerosLike", name_of(zeros, "%s/zeros", name),
                             training->values[i]),
                       rank, dims);
}

static TF_Operation *make_update(Training *training, size_t i, TF_Output gradient) {
  const char *type = training->golden->training->optimizer;
  Status status;
  status_init(&status);
  const Op *op;
  if (!CHECK_OK(op_registry_look_up(op_registry_global(), type, &op, &status), status)) return NULL;
  TF_Output inputs[16];
  char node[NAME_CAPACITY];
  name_of(node, "training/update%zu", i);
  size_t count = op->def->n_input_arg;
  if (!CHECK(count <= 16)) return NULL;
  for (size_t k = 0; k < count; k++) {
    const ArgDef *arg = op->def->input_arg[k];
    bool is_gradient = strcmp(arg->name, "grad") == 0 || strcmp(arg->name, "delta") == 0;
    inputs[k] = is_gradient                     ? gradient
                : strcmp(arg->name, "var") == 0 ? training->handles[i]
                : (int)arg->type == DT_RESOURCE ? slot(training, i, node, arg->name)
                                                : scalar(training, node, arg->name);
  }
  TF_OperationDescription *desc = TF_NewOperation(training->f.graph, type, node);
  for (size_t k = 0; k < count; k++) TF_AddInput(desc, inputs[k]);
  return finish(&training->f, desc).oper;
}

bool training_make_updates(Training *training, TF_Output loss) {
  size_t count = training->golden->training->n_variables;
  TF_Output gradients[TRAINING_MOST_VARIABLES];
  training->step = placeholder_of(&training->f, "training/step", TF_FLOAT, 0, NULL);
  TF_AddGradients(training->f.graph, &loss, 1, training->values, (int)count, NULL, training->f.status,
                  gradients);
  if (!CHECK_TF_OK(training->f.status)) return false;
  for (size_t i = 0; i < count; i++) {
    training->updates[i] = make_update(training, i, gradients[i]);
    if (!training->updates[i]) return false;
  }
  return true;
}

bool training_initialize(Training *training, TF_Session *session) {
  /* Slots are zeros with the shapes of their variables, so the variables come first. */
  for (int i = 0; i < training->num_initializers; i++) {
    run_target(&training->f, session, training->initializers[i]);
    if (!CHECK_TF_OK(training->f.status)) return false;
  }
  return true;
}
