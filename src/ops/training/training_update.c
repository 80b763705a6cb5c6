#include "ops/training/training_update.h"

#include <string.h>

#include "op/node_def.h"
#include "ops/support/array_box.h"
#include "ops/support/half_precision.h"
#include "ops/support/variable_access.h"

/* --- the roles of inputs --- */

static bool is_variable(const OpDef *op_def, int i) {
  return op_def->input_arg[i]->is_ref || (DataType)op_def->input_arg[i]->type == DT_RESOURCE;
}

static void find_inputs(const OpDef *op_def, UpdateState *state) {
  *state = (UpdateState){.op_def = op_def, .grad = -1, .indices = -1};
  for (int i = 0; i < (int)op_def->n_input_arg; i++) {
    const char *name = op_def->input_arg[i]->name;
    if (is_variable(op_def, i)) {
      state->num_variables++;
    } else if (strcmp(name, "grad") == 0 || strcmp(name, "delta") == 0) {
      state->grad = i;
    } else if (strcmp(name, "indices") == 0) {
      state->indices = i;
    } else {
      state->scalars[state->num_scalars++] = i;
    }
  }
}

bool update_construct(const KernelConstruction *construction, void *memory, Status *status) {
  UpdateState *state = memory;
  find_inputs(construction->op_def, state);
  state->flag = state->indices >= 0;
  for (size_t i = 0; i < construction->op_def->n_attr; i++) {
    const char *name = construction->op_def->attr[i]->name;
    if (strcmp(name, "use_nesterov") == 0 || strcmp(name, "update_slots") == 0) {
      TRY(node_attr_bool(construction->node, name, &state->flag, status));
    } else if (strcmp(name, "multiply_linear_by_lr") == 0) {
      TRY(node_attr_bool(construction->node, name, &state->linear_in_rate, status));
    }
  }
  return true;
}

/* --- shapes: variables alike, the gradient like them or one row per index, the others scalars --- */

static bool merge_rows(InferenceContext *c, ShapeHandle var, ShapeHandle grad, ShapeHandle indices,
                       ShapeHandle *out, Status *status) {
  ShapeHandle vector, rows;
  DimHandle count;
  TRY(shape_with_rank(c, indices, 1, &vector, status));
  TRY(shape_with_rank_at_least(c, grad, 1, &rows, status));
  TRY(dim_merge(c, shape_dim_of(c, vector, 0), shape_dim_of(c, rows, 0), &count, status));
  /* The gradient's rows do not determine the variable's number of rows. */
  if (!shape_rank_known(rows)) return *out = var, true;
  TRY(shape_replace_dim(c, rows, 0, dim_unknown(c), &rows, status));
  return shape_merge(c, var, rows, out, status);
}

bool update_shape(InferenceContext *c, Status *status) {
  UpdateState inputs;
  ShapeHandle merged, unused;
  find_inputs(c->op_def, &inputs);
  for (int i = 0; i < inputs.num_variables; i++) {
    ShapeAndType variable = {.shape = shape_input(c, i)};
    if (!c->op_def->input_arg[i]->is_ref) TRY(variable_shape_and_type(c, i, &variable, status));
    if (i == 0) {
      merged = variable.shape;
    } else {
      TRY(shape_merge(c, merged, variable.shape, &merged, status));
    }
  }
  for (int i = 0; i < inputs.num_scalars; i++)
    TRY(shape_with_rank(c, shape_input(c, inputs.scalars[i]), 0, &unused, status));
  if (inputs.indices < 0) {
    TRY(shape_merge(c, merged, shape_input(c, inputs.grad), &merged, status));
  } else {
    TRY(merge_rows(c, merged, shape_input(c, inputs.grad), shape_input(c, inputs.indices), &merged, status));
  }
  if (c->num_outputs > 0) shape_set_output(c, 0, merged);
  return true;
}

/* --- checks --- */

static const char *input_name(const UpdateState *state, int i) { return state->op_def->input_arg[i]->name; }

/* The words of input errors, if they do not follow from names alone. */
typedef struct Wording {
  const char *op; /* a part of the op's name; "": any op */
  const char *input;
  const char *noun;  /* the name of the input; NULL: its own */
  const char *colon; /* the text between the requirement and the shape; NULL: ": " */
} Wording;
static const Wording kWordings[] = {
    {"ApplyAdagradDA", "gradient_accumulator", "accum", NULL},
    {"ApplyAdagradDA", "gradient_squared_accumulator", "accum", NULL},
    {"SparseApplyAdadelta", "accum", "accum_grad", NULL},
    {"SparseApplyProximalGradientDescent", "alpha", "lr", NULL},
    {"SparseApplyMomentum", "lr", NULL, " : "},
    {"SparseApplyKerasMomentum", "lr", NULL, " : "},
    {"ApplyAdam", "lr", NULL, " : "},
    {"ApplyAdaMax", "lr", NULL, " : "},
    {"SparseApplyRMSProp", "lr", NULL, NULL},
    {"SparseApplyCenteredRMSProp", "lr", NULL, NULL},
    {"RMSProp", "lr", NULL, " : "},
    {"SparseApplyFtrl", "lr_power", NULL, NULL},
    {"ApplyFtrl", "lr_power", NULL, ""},
    {"", "l1", "l1 regularization strength", NULL},
    {"", "l2", "l2 regularization strength", NULL},
    {"", "l2_shrinkage", "l2 shrinkage regularization strength", NULL},
};

static Wording wording_of(const UpdateState *state, int i) {
  Wording found = {.input = input_name(state, i)};
  for (size_t k = 0; k < sizeof kWordings / sizeof *kWordings && !found.op; k++) {
    if (strcmp(kWordings[k].input, found.input) == 0 && strstr(state->op_def->name, kWordings[k].op))
      found = kWordings[k];
  }
  if (!found.noun) found.noun = found.input;
  if (!found.colon) found.colon = ": ";
  return found;
}

static bool check_same_shape(const UpdateState *state, const Tensor *var, int i, const Tensor *other,
                             Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (shape_equal(&var->shape, &other->shape)) return true;
  return status_invalid(status, "var and %s do not have the same shape%s %s", wording_of(state, i).noun,
                        shape_text(&var->shape, a), shape_text(&other->shape, b));
}

/* Whether the scalar has a valid sign. A learning rate that divides must not be zero. */
static bool keeps_sign(const UpdateState *state, const char *name, double value) {
  if (strcmp(name, "lr") == 0) return value > 0 || (state->linear_in_rate && value == 0);
  return strcmp(name, "lr_power") == 0 ? value <= 0 : value >= 0;
}
static const char *sign_demand(const char *name, bool ftrl) {
  if (strcmp(name, "lr") == 0)
    return ftrl ? "positive scalar (or zero if multiply_linear_by_lr is set)" : "positive scalar";
  return strcmp(name, "lr_power") == 0 ? "non-positive scalar" : "non-negative scalar";
}

static bool check_scalar(const KernelContext *context, int i, int demands, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  const UpdateState *state = context->state;
  const Tensor *input = context->inputs[i];
  const char *name = input_name(state, i), *demand = "scalar";
  bool ok = tensor_is_scalar(input), ftrl = (demands & UPDATE_FTRL) && state->indices >= 0;
  if (ftrl || (demands & UPDATE_SIGNS)) {
    demand = sign_demand(name, ftrl);
    ok = ok && keeps_sign(state, name, tensor_double_at(input, 0));
  }
  if (ok) return true;
  Wording words = wording_of(state, i);
  return status_invalid(status, "%s is not a %s%s%s", words.noun, demand, words.colon,
                        shape_text(&input->shape, text));
}

static int64_t index_at(const Tensor *indices, int64_t i) {
  return indices->dtype == DT_INT32 ? tensor_i32(indices)[i] : tensor_i64(indices)[i];
}

static bool check_rows(const UpdateState *state, const Tensor *var, const Tensor *grad, const Tensor *indices,
                       int demands, Status *status) {
  bool empty_rows = false;
  if (var->shape.rank < 1) return status_invalid(status, "var must be at least 1 dimensional");
  if (indices->shape.rank != 1) return status_invalid(status, "indices must be one-dimensional");
  for (int d = 1; d < var->shape.rank; d++) {
    if (d >= grad->shape.rank || shape_dim(&grad->shape, d) != shape_dim(&var->shape, d)) {
      return status_invalid(status, "var and grad must match in dimension %d", d);
    }
    empty_rows = empty_rows || shape_dim(&var->shape, d) == 0;
  }
  if (grad->shape.rank != var->shape.rank)
    return status_invalid(status, "grad must have the same number of dimensions as var");
  if (shape_dim(&grad->shape, 0) != shape_dim(&indices->shape, 0)) {
    return status_invalid(status, "grad must be the same size as indices in the first dimension.");
  }
  if ((demands & UPDATE_FULL_ROWS) && empty_rows) {
    return status_invalid(status, "Inner dimension should be greater than zero.");
  }
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    int64_t row = index_at(indices, i);
    if (row < 0 || row >= shape_dim(&var->shape, 0)) {
      if (strstr(state->op_def->name, "KerasMomentum"))
        return array_refuse_index(indices, i, shape_dim(&var->shape, 0), status);
      return status_invalid(status, "Index %lld at offset %lld in indices is out of range", (long long)row,
                            (long long)i);
    }
  }
  return true;
}

/* TensorFlow says less here than elsewhere of a variable that has no value. */
static bool find_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                          Status *status) {
  if (changed_variable(context, i, dtype, variable, status)) return true;
  return status->code == CODE_NOT_FOUND ? status_set(status, CODE_INTERNAL, "Invalid variable reference.")
                                        : false;
}

/* Finds the variables, and makes them writable after all checks. */
static bool prepare(KernelContext *context, int demands, Variable **variables, Status *status) {
  const UpdateState *state = context->state;
  const Tensor *grad = context->inputs[state->grad];
  for (int i = 0; i < state->num_variables; i++) {
    TRY(find_variable(context, i, grad->dtype, &variables[i], status));
    for (int k = 0; k < i; k++) {
      if (variables[k] == variables[i]) {
        return status_invalid(status, "%s and %s are the same variable", input_name(state, k),
                              input_name(state, i));
      }
    }
  }
  const Tensor *var = &variables[0]->value;
  for (int i = 1; i < state->num_variables; i++)
    TRY(check_same_shape(state, var, i, &variables[i]->value, status));
  for (int i = state->num_variables; i < context->num_inputs; i++) {
    if (i == state->indices) continue;
    if (i != state->grad) {
      TRY(check_scalar(context, i, demands, status));
    } else if (state->indices < 0) {
      TRY(check_same_shape(state, var, i, grad, status));
    }
  }
  if (state->indices >= 0)
    TRY(check_rows(state, var, grad, context->inputs[state->indices], demands, status));
  for (int i = 0; i < state->num_variables; i++) {
    TRY(variable_prepare_update(variables[i], variable_name(context, i), kernel_step_id(context),
                                context->pool, status));
  }
  return true;
}

/* --- running --- */

enum { WIDE_BLOCK = 256, UPDATE_WORK = 4 };

typedef struct Update {
  UpdateLoop loop;
  DataType dtype;
  int64_t element_size;
  int num_variables;
  void *variables[UPDATE_MAX_VARIABLES];
  const void *grad;
  double _Complex scalars[UPDATE_MAX_SCALARS]; /* space for any type */
  bool flag;
  const Tensor *indices;
  int64_t row_size;
} Update;

static void step_in_float(const Update *u, int64_t count, void *const *variables, const char *grad) {
  float wide[UPDATE_MAX_VARIABLES + 1][WIDE_BLOCK];
  void *wide_variables[UPDATE_MAX_VARIABLES] = {wide[0], wide[1], wide[2], wide[3]};
  for (int64_t begin = 0; begin < count; begin += WIDE_BLOCK) {
    int64_t size = count - begin < WIDE_BLOCK ? count - begin : WIDE_BLOCK;
    for (int k = 0; k < u->num_variables; k++) {
      half_precision_widen(u->dtype, (const char *)variables[k] + begin * 2, wide[k], size);
    }
    half_precision_widen(u->dtype, grad + begin * 2, wide[UPDATE_MAX_VARIABLES], size);
    u->loop(u->scalars, u->flag, size, wide_variables, wide[UPDATE_MAX_VARIABLES]);
    for (int k = 0; k < u->num_variables; k++) {
      half_precision_narrow(u->dtype, wide[k], (char *)variables[k] + begin * 2, size);
    }
  }
}

/* Updates elements [to, to + count) of the variables with those of the gradient from `from` on. */
static void step(const Update *u, int64_t to, int64_t from, int64_t count) {
  void *variables[UPDATE_MAX_VARIABLES] = {0};
  const char *grad = (const char *)u->grad + from * u->element_size;
  for (int k = 0; k < u->num_variables; k++) variables[k] = (char *)u->variables[k] + to * u->element_size;
  if (half_precision(u->dtype)) {
    step_in_float(u, count, variables, grad);
  } else {
    u->loop(u->scalars, u->flag, count, variables, grad);
  }
}

static void dense_body(void *arg, int64_t begin, int64_t end) { step(arg, begin, begin, end - begin); }

/* Updates the rows [begin, end) of the variable, so that updates of the same row are applied in the order of
 * the indices, for any number of threads. */
static void rows_body(void *arg, int64_t begin, int64_t end) {
  const Update *u = arg;
  int64_t count = shape_dim(&u->indices->shape, 0);
  for (int64_t i = 0; i < count; i++) {
    int64_t row = index_at(u->indices, i);
    if (row >= begin && row < end) step(u, row * u->row_size, i * u->row_size, u->row_size);
  }
}

/* Converts the scalars to the type of the computation. */
static void put_real(Update *u, int k, double value) {
  if (u->dtype == DT_DOUBLE) ((double *)u->scalars)[k] = value;
  else ((float *)u->scalars)[k] = (float)value;
}
static void put_scalar(Update *u, int k, const Tensor *value) {
  if (dtype_is_complex(u->dtype)) {
    memcpy((char *)u->scalars + k * u->element_size, value->data, (size_t)u->element_size);
  } else {
    put_real(u, k, tensor_double_at(value, 0));
  }
}

bool update_kernel(KernelContext *context, Status *status) {
  const UpdateStep *formula = context->data;
  const UpdateState *state = context->state;
  const Tensor *grad = context->inputs[state->grad];
  Variable *variables[UPDATE_MAX_VARIABLES] = {NULL};
  TRY(prepare(context, formula->demands, variables, status));
  const Tensor *var = &variables[0]->value;
  Update u = {.loop = formula->loop,
              .dtype = grad->dtype,
              .element_size = (int64_t)dtype_size(grad->dtype),
              .num_variables = state->num_variables,
              .grad = grad->data,
              .flag = state->flag};
  for (int i = 0; i < state->num_variables; i++) u.variables[i] = variables[i]->value.data;
  for (int k = 0; k < state->num_scalars; k++) put_scalar(&u, k, context->inputs[state->scalars[k]]);
  if (state->linear_in_rate) put_real(&u, state->num_scalars, 1);
  if (state->indices < 0) {
    parallel_work(context->parallel, tensor_num_elements(grad), UPDATE_WORK, dense_body, &u);
  } else if (tensor_num_elements(grad) > 0) {
    u.indices = context->inputs[state->indices];
    u.row_size = tensor_num_elements(grad) / shape_dim(&grad->shape, 0);
    /* Each range reads all indices, so there are at most as many ranges as threads. */
    int64_t rows = shape_dim(&var->shape, 0), threads = parallel_threads(context->parallel);
    if (tensor_num_elements(grad) < parallel_wake_grain(UPDATE_WORK)) threads = 1;
    parallel_for(context->parallel, rows, (rows + threads - 1) / threads, rows_body, &u);
  }
  return variable_changed(context, status);
}
