/* Random graphs of differentiable ops: their gradients compared with central differences, and with gradients
 * through functions: through a call, and through a call of a function that calls others, with and without the
 * optimizer. TFCORE_GRADIENT_SEED and TFCORE_GRADIENT_ROUNDS make longer runs. */
#include <math.h>

#include "c_api/c_api_fixture.h"
#include "c_api/random_values.h"
#include "tfcore/gradient_checker.h"

enum {
  NUM_XS = 4,
  NUM_YS = 3,
  MAX_VALUES = 128,
  MAX_RANK = 3,
  MAX_ELEMENTS = 18,
  OPS = 10,
  MAX_FUNCTIONS = 3
};

typedef struct Value {
  TF_Output output;
  int rank;
  int64_t dims[MAX_RANK];
  int64_t count;
} Value;

/* One graph: the first values of the pool are the xs. */
typedef struct Round {
  Fixture f;
  Random *random;
  TF_DataType type;
  Value pool[MAX_VALUES];
  int num_values, num_ops;
  TF_Output xs[NUM_XS], ys[NUM_YS], dys[NUM_YS];
  TF_Tensor *x_values[NUM_XS], *dy_values[NUM_YS];
} Round;

static const int kRanks[NUM_XS] = {2, 1, 0, 2};
static const int64_t kDims[NUM_XS][2] = {{2, 3}, {3, 0}, {0, 0}, {3, 2}};

/* --- building --- */

/* Adds it to the pool if it is small enough and its shape is known. */
static bool keep(Round *r, TF_Output output) {
  Value value = {.output = output, .count = 1};
  value.rank = TF_GraphGetTensorNumDims(r->f.graph, output, r->f.status);
  if (value.rank < 0 || value.rank > MAX_RANK || r->num_values == MAX_VALUES) return false;
  TF_GraphGetTensorShape(r->f.graph, output, value.dims, value.rank, r->f.status);
  for (int i = 0; i < value.rank; i++) {
    if (value.dims[i] < 0) return false;
    value.count *= value.dims[i];
  }
  if (value.count == 0 || value.count > MAX_ELEMENTS) return false;
  r->pool[r->num_values++] = value;
  return true;
}

static TF_OperationDescription *new_op(Round *r, const char *type) {
  char name[32];
  snprintf(name, sizeof name, "n%d", r->num_ops++);
  return TF_NewOperation(r->f.graph, type, name);
}

/* Incompatible shapes are not an error here: there is just no output. */
static TF_Output try_finish(Round *r, TF_OperationDescription *desc) {
  return (TF_Output){TF_FinishOperation(desc, r->f.status), 0};
}

static TF_Output add_op(Round *r, const char *type, int num_inputs, const TF_Output *inputs) {
  TF_OperationDescription *desc = new_op(r, type);
  for (int i = 0; i < num_inputs; i++) TF_AddInput(desc, inputs[i]);
  return try_finish(r, desc);
}

static TF_Output ints(Round *r, int count, const int32_t *values) {
  char name[32];
  snprintf(name, sizeof name, "c%d", r->num_ops++);
  return constant_of(&r->f, name,
                     tensor_of(TF_INT32, 1, (int64_t[]){count}, values, sizeof(int32_t) * (size_t)count));
}

static const Value *pick(Round *r) { return &r->pool[random_below(r->random, r->num_values)]; }

static const Value *pick_alike(Round *r, const Value *like) {
  for (int tries = 0; tries < 8; tries++) {
    const Value *value = pick(r);
    if (value->rank == like->rank &&
        memcmp(value->dims, like->dims, sizeof(int64_t) * (size_t)like->rank) == 0)
      return value;
  }
  return like;
}

static TF_Output add_binary(Round *r, const Value *x) {
  static const char *const kTypes[] = {"Add",     "Sub",     "Mul",  "SquaredDifference",
                                       "Maximum", "Minimum", "AddV2"};
  const char *type = kTypes[random_below(r->random, 7)];
  /* Its gradient is not defined for complex dys. */
  if (r->type == TF_COMPLEX128 && strcmp(type, "SquaredDifference") == 0) return kNone;
  return add_op(r, type, 2, (TF_Output[]){x->output, pick(r)->output});
}

static TF_Output add_product(Round *r, const Value *x) {
  TF_OperationDescription *desc = new_op(r, "MatMul");
  TF_AddInput(desc, x->output);
  TF_AddInput(desc, pick(r)->output);
  TF_SetAttrBool(desc, "transpose_a", one_in(r->random, 2));
  TF_SetAttrBool(desc, "transpose_b", one_in(r->random, 2));
  return try_finish(r, desc);
}

static TF_Output add_reduction(Round *r, const Value *x) {
  static const char *const kTypes[] = {"Sum", "Mean", "Prod", "Max"};
  int32_t axis = x->rank == 0 ? 0 : random_below(r->random, 2 * x->rank) - x->rank;
  TF_Output axes = ints(r, x->rank > 0, &axis);
  TF_OperationDescription *desc = new_op(r, kTypes[random_below(r->random, r->type == TF_DOUBLE ? 4 : 3)]);
  TF_AddInput(desc, x->output);
  TF_AddInput(desc, axes);
  TF_SetAttrBool(desc, "keep_dims", one_in(r->random, 2));
  return try_finish(r, desc);
}

static TF_Output add_move(Round *r, const Value *x) {
  int32_t numbers[2 * MAX_RANK] = {0}, sizes[MAX_RANK] = {0};
  switch (random_below(r->random, 5)) {
    case 0:
      for (int i = 0; i < x->rank; i++) numbers[i] = x->rank - 1 - i;
      return add_op(r, "Transpose", 2, (TF_Output[]){x->output, ints(r, x->rank, numbers)});
    case 1:
      return add_op(r, "Reshape", 2,
                    (TF_Output[]){x->output, ints(r, 2, (int32_t[]){-1, one_in(r->random, 2) ? 1 : 2})});
    case 2:
      for (int i = 0; i < x->rank; i++) numbers[i] = 1 + one_in(r->random, 2);
      return add_op(r, "Tile", 2, (TF_Output[]){x->output, ints(r, x->rank, numbers)});
    case 3:
      for (int i = 0; i < x->rank; i++) {
        numbers[i] = random_below(r->random, (int)x->dims[i]);
        sizes[i] = -1;
      }
      return add_op(r, "Slice", 3,
                    (TF_Output[]){x->output, ints(r, x->rank, numbers), ints(r, x->rank, sizes)});
    default: {
      for (int i = 0; i < 2 * x->rank; i++) numbers[i] = one_in(r->random, 3);
      TF_Output flat = ints(r, 2 * x->rank, numbers), rows = ints(r, 2, (int32_t[]){x->rank, 2});
      return add_op(r, "Pad", 2,
                    (TF_Output[]){x->output, add_op(r, "Reshape", 2, (TF_Output[]){flat, rows})});
    }
  }
}

static TF_Output add_list_op(Round *r, const Value *x) {
  const Value *other = pick_alike(r, x);
  TF_Output list[] = {x->output, other->output};
  int kind = random_below(r->random, 3);
  int32_t axis = 0;
  char name[32];
  snprintf(name, sizeof name, "c%d", r->num_ops++);
  TF_Output axis_output =
      kind == 0 ? constant_of(&r->f, name, tensor_of(TF_INT32, 0, NULL, &axis, sizeof axis)) : kNone;
  TF_OperationDescription *desc = new_op(r, kind == 0 ? "ConcatV2" : kind == 1 ? "Pack" : "AddN");
  TF_AddInputList(desc, list, 2);
  if (kind == 0) TF_AddInput(desc, axis_output);
  return try_finish(r, desc);
}

static void add_unpack(Round *r, const Value *x) {
  if (x->rank == 0) return;
  TF_OperationDescription *desc = new_op(r, "Unpack");
  TF_AddInput(desc, x->output);
  TF_SetAttrInt(desc, "num", x->dims[0]);
  TF_Output unpacked = try_finish(r, desc);
  for (int i = 0; unpacked.oper && i < x->dims[0]; i++) keep(r, (TF_Output){unpacked.oper, i});
}

/* A call of a function with the same xs. */
static void add_call(Round *r, const char *function) {
  TF_OperationDescription *desc = new_op(r, function);
  for (int i = 0; i < NUM_XS; i++) TF_AddInput(desc, pick_alike(r, &r->pool[i])->output);
  TF_Output call = finish(&r->f, desc);
  for (int i = 0; i < NUM_YS; i++) keep(r, (TF_Output){call.oper, i});
}

/* Keeps most results near 1. Complex tanh has poles, near which differences are useless. */
static TF_Output squash(Round *r, TF_Output y) {
  if (r->type == TF_DOUBLE) return add_op(r, "Tanh", 1, &y);
  const double quarter[] = {0.25, 0};
  char name[32];
  snprintf(name, sizeof name, "c%d", r->num_ops++);
  TF_Output factor = constant_of(&r->f, name, tensor_of(TF_COMPLEX128, 0, NULL, quarter, sizeof quarter));
  TF_Output less = add_op(r, "Mul", 2, (TF_Output[]){y, factor});
  return add_op(r, "Sin", 1, &less);
}

static TF_Output add_unary(Round *r, const Value *x) {
  static const char *const kReal[] = {"Neg",   "Tanh", "Sigmoid",  "Softmax", "LogSoftmax", "Square",  "Exp",
                                      "Expm1", "Relu", "Identity", "Sin",     "Erf",        "Softplus"};
  static const char *const kComplex[] = {"Neg", "Conj", "Square", "Exp", "Cos", "Identity"};
  return add_op(r,
                r->type == TF_DOUBLE ? kReal[random_below(r->random, 13)]
                                     : kComplex[random_below(r->random, 6)],
                1, &x->output);
}

static void add_something(Round *r) {
  const Value x = *pick(r);
  TF_Output y = kNone;
  switch (random_below(r->random, 7)) {
    case 0: y = add_unary(r, &x); break;
    case 1: y = add_binary(r, &x); break;
    case 2: y = add_product(r, &x); break;
    case 3: y = add_reduction(r, &x); break;
    case 4: y = add_move(r, &x); break;
    case 5: y = add_list_op(r, &x); break;
    default: add_unpack(r, &x);
  }
  if (y.oper && one_in(r->random, 2)) y = squash(r, y);
  if (y.oper) keep(r, y);
}

/* Three ys: two of the latest values, and one that depends on every x. */
static void choose_ys(Round *r) {
  TF_Output all = kNone;
  for (int i = 0; i < NUM_XS; i++) {
    int32_t axes[] = {0, 1};
    TF_Output total = add_op(r, "Sum", 2, (TF_Output[]){r->xs[i], ints(r, kRanks[i], axes)});
    all = all.oper ? add_op(r, "Add", 2, (TF_Output[]){all, total}) : total;
  }
  r->ys[0] = r->pool[r->num_values - 1].output;
  r->ys[1] = squash(r, r->pool[r->num_values - 1 - random_below(r->random, 3)].output);
  r->ys[2] = squash(r, all);
  CHECK(r->ys[1].oper && r->ys[2].oper);
}

/* Between -1 and 1, for both parts of complex numbers. */
static TF_Tensor *random_numbers(Round *r, int rank, const int64_t *dims) {
  int64_t count = r->type == TF_COMPLEX128 ? 2 : 1;
  for (int i = 0; i < rank; i++) count *= dims[i];
  TF_Tensor *tensor = TF_AllocateTensor(r->type, dims, rank, sizeof(double) * (size_t)count);
  for (int64_t i = 0; i < count; i++)
    ((double *)TF_TensorData(tensor))[i] = (double)(random_bits(r->random) >> 11) * 0x1p-52 - 1;
  return tensor;
}

static bool begin_round(Round *r, Random *random, TF_DataType type, TF_Function *const *functions,
                        int num_functions) {
  *r = (Round){.random = random, .type = type};
  if (!begin(&r->f)) return false;
  for (int i = 0; i < num_functions; i++) {
    TF_GraphCopyFunction(r->f.graph, functions[i], NULL, r->f.status);
    CHECK_TF_OK(r->f.status);
  }
  for (int i = 0; i < NUM_XS; i++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    r->xs[i] = placeholder_of(&r->f, name, type, kRanks[i], kDims[i]);
    r->x_values[i] = random_numbers(r, kRanks[i], kDims[i]);
    keep(r, r->xs[i]);
  }
  for (int i = 0; i < OPS; i++) add_something(r);
  if (num_functions > 0) add_call(r, TF_FunctionName(functions[num_functions - 1]));
  for (int i = 0; i < OPS / 2; i++) add_something(r);
  choose_ys(r);
  for (int i = 0; i < NUM_YS; i++) {
    char name[16];
    snprintf(name, sizeof name, "dy%d", i);
    r->dys[i] = placeholder_of(&r->f, name, type, -1, NULL);
  }
  return true;
}

static void end_round(Round *r) {
  for (int i = 0; i < NUM_XS; i++) TF_DeleteTensor(r->x_values[i]);
  for (int i = 0; i < NUM_YS; i++) TF_DeleteTensor(r->dy_values[i]);
  end(&r->f);
}

/* --- checking --- */

static void check_differences(Round *r, int order) {
  const TF_GradientCheckOptions options = {.order = order};
  double error = NAN;
  TF_ComputeGradientError(r->f.graph, r->ys, NUM_YS, r->xs, NUM_XS, r->x_values, &options, &error,
                          r->f.status);
  CHECK_TF_OK(r->f.status);
  CHECK(error < 1e-6);
}

/* Whether all values are small enough for differences. */
static bool is_small(TF_Tensor *tensor) {
  if (!tensor) return false;
  const double *values = TF_TensorData(tensor);
  for (size_t k = 0; k < TF_TensorByteSize(tensor) / sizeof(double); k++) {
    if (!(fabs(values[k]) < 100)) return false;
  }
  return true;
}

/* Gives dys the shapes of the ys. False if values are not small. */
static bool make_dys(Round *r) {
  TF_Output fetches[NUM_YS + MAX_VALUES];
  TF_Tensor *values[NUM_YS + MAX_VALUES] = {0};
  int count = NUM_YS;
  memcpy(fetches, r->ys, sizeof r->ys);
  for (int i = NUM_XS; i < r->num_values; i++) fetches[count++] = r->pool[i].output;
  TF_Session *session = TF_NewSession(r->f.graph, NULL, r->f.status);
  TF_SessionRun(session, NULL, r->xs, r->x_values, NUM_XS, fetches, values, count, NULL, 0, NULL,
                r->f.status);
  CHECK_TF_OK(r->f.status);
  bool small = true;
  for (int i = 0; i < count; i++) {
    small = is_small(values[i]) && small;
    int64_t dims[MAX_RANK];
    int rank = values[i] ? TF_NumDims(values[i]) : 0;
    for (int k = 0; k < rank; k++) dims[k] = TF_Dim(values[i], k);
    if (i < NUM_YS) r->dy_values[i] = random_numbers(r, rank, dims);
    TF_DeleteTensor(values[i]);
  }
  TF_DeleteSession(session, r->f.status);
  return small;
}

static void fetch_all(Round *r, TF_Session *session, const TF_Output *fetches, TF_Tensor **results) {
  TF_Output feeds[NUM_XS + NUM_YS];
  TF_Tensor *values[NUM_XS + NUM_YS];
  for (int i = 0; i < NUM_XS; i++) feeds[i] = r->xs[i], values[i] = r->x_values[i];
  for (int i = 0; i < NUM_YS; i++) feeds[NUM_XS + i] = r->dys[i], values[NUM_XS + i] = r->dy_values[i];
  TF_SessionRun(session, NULL, feeds, values, NUM_XS + NUM_YS, fetches, results, NUM_XS, NULL, 0, NULL,
                r->f.status);
  CHECK_TF_OK(r->f.status);
}

static void check_equal(TF_Tensor *const *got, TF_Tensor *const *want) {
  for (int i = 0; i < NUM_XS; i++) {
    if (!CHECK(got[i] && want[i]) || !CHECK_INT_EQ(TF_TensorByteSize(got[i]), TF_TensorByteSize(want[i])))
      continue;
    const double *a = TF_TensorData(got[i]), *b = TF_TensorData(want[i]);
    for (size_t k = 0; k < TF_TensorByteSize(want[i]) / sizeof(double); k++)
      CHECK_NEAR(a[k], b[k], 1e-12 * fmax(1, fabs(b[k])));
  }
}

static void drop(TF_Tensor **tensors) {
  for (int i = 0; i < NUM_XS; i++) TF_DeleteTensor(tensors[i]);
}

/* A node that computes the gradient of the function. */
static void add_symbolic_gradient(Round *r, TF_Function *function, TF_Output *dxs) {
  const TF_DataType types[] = {r->type, r->type, r->type, r->type, r->type, r->type, r->type};
  TF_Output inputs[NUM_XS + NUM_YS];
  memcpy(inputs, r->xs, sizeof r->xs);
  memcpy(inputs + NUM_XS, r->dys, sizeof r->dys);
  TF_OperationDescription *desc = TF_NewOperation(r->f.graph, "SymbolicGradient", "symbolic");
  TF_AddInputList(desc, inputs, NUM_XS + NUM_YS);
  TF_SetAttrTypeList(desc, "Tin", types, NUM_XS + NUM_YS);
  TF_SetAttrTypeList(desc, "Tout", types, NUM_XS);
  TF_SetAttrFuncName(desc, "f", TF_FunctionName(function), strlen(TF_FunctionName(function)));
  TF_Output node = finish(&r->f, desc);
  for (int i = 0; i < NUM_XS; i++) dxs[i] = (TF_Output){node.oper, i};
}

/* ConfigProto { graph_options { optimizer_options { opt_level: L0 } } } */
static const unsigned char kUnoptimized[] = {0x52, 13,  0x1a, 11,  0x18, 255, 255, 255,
                                             255,  255, 255,  255, 255,  255, 1};

/* Compares with a session without inlining, folding and merging. */
static void check_unoptimized(Round *r, const TF_Output *dxs, TF_Tensor *const *want) {
  TF_Tensor *got[NUM_XS] = {0};
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetConfig(options, kUnoptimized, sizeof kUnoptimized, r->f.status);
  CHECK_TF_OK(r->f.status);
  TF_Session *session = TF_NewSession(r->f.graph, options, r->f.status);
  fetch_all(r, session, dxs, got);
  check_equal(got, want);
  drop(got);
  TF_DeleteSession(session, r->f.status);
  TF_DeleteSessionOptions(options);
}

/* The gradients of the graph, of a call of the same computation, and its symbolic gradient. */
static void check_function(Round *r, TF_Function *function) {
  Fixture *f = &r->f;
  TF_Output dxs[NUM_XS], ys[NUM_YS];
  TF_Tensor *want[NUM_XS] = {0}, *of_call[NUM_XS] = {0}, *symbolic[NUM_XS] = {0};
  TF_Session *session = TF_NewSession(f->graph, NULL, f->status);
  TF_AddGradients(f->graph, r->ys, NUM_YS, r->xs, NUM_XS, r->dys, f->status, dxs);
  if (CHECK_TF_OK(f->status)) fetch_all(r, session, dxs, want);
  TF_GraphCopyFunction(f->graph, function, NULL, f->status);
  CHECK_TF_OK(f->status);
  TF_Output call = op(f, TF_FunctionName(function), "call", NUM_XS, r->xs);
  for (int i = 0; i < NUM_YS; i++) ys[i] = (TF_Output){call.oper, i};
  TF_AddGradients(f->graph, ys, NUM_YS, r->xs, NUM_XS, r->dys, f->status, dxs);
  if (CHECK_TF_OK(f->status)) fetch_all(r, session, dxs, of_call);
  check_equal(of_call, want);
  check_unoptimized(r, dxs, of_call);
  add_symbolic_gradient(r, function, dxs);
  fetch_all(r, session, dxs, symbolic);
  check_equal(symbolic, want);
  check_unoptimized(r, dxs, symbolic);
  drop(symbolic);
  drop(of_call);
  drop(want);
  TF_DeleteSession(session, f->status);
}

static void compose(TF_DataType type) {
  const uint64_t seed = setting("TFCORE_GRADIENT_SEED", 1);
  const int rounds = (int)setting("TFCORE_GRADIENT_ROUNDS", 60);
  TF_Function *functions[MAX_FUNCTIONS];
  int num_functions = 0, checked = 0;
  for (int i = 0; i < rounds; i++) {
    CHECK_CONTEXT("seed %d, round %d", (int)seed, i);
    Random random = {seed * 1000003 + (uint64_t)i};
    Round r;
    if (!begin_round(&r, &random, type, functions, num_functions)) break;
    char name[16];
    snprintf(name, sizeof name, "F%d", i);
    TF_Function *function = TF_GraphToFunction(r.f.graph, name, 0, -1, NULL, NUM_XS, r.xs, NUM_YS, r.ys, NULL,
                                               NULL, NULL, r.f.status);
    if (CHECK_TF_OK(r.f.status)) {
      if (make_dys(&r)) {
        check_differences(&r, i % 4 == 0 ? 2 : 1);
        check_function(&r, function);
        checked++;
      }
      functions[num_functions++] = function; /* the next one calls it */
    }
    if (num_functions == MAX_FUNCTIONS) {
      while (num_functions > 0) TF_DeleteFunction(functions[--num_functions]);
    }
    end_round(&r);
  }
  while (num_functions > 0) TF_DeleteFunction(functions[--num_functions]);
  CHECK_CONTEXT("%s", "");
  CHECK(checked >= rounds - rounds / 4);
}

TEST(random_compositions) { compose(TF_DOUBLE); }
TEST(random_compositions_of_complex_numbers) { compose(TF_COMPLEX128); }
