/* CTCLoss: the negative logarithm of the probability of the labels, summed over all their alignments, and its
 * gradient with respect to the inputs.
 *
 * The labels of a sequence, with a blank before, between and after them, are its path. alpha(u, t) is the
 * probability of all ways to be at place u of the path at time t, and beta(u, t) that of the rest. Both are
 * kept as logarithms. */
#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/ctc/ctc_shared.h"

typedef struct LossState {
  bool collapse_repeated, merge_repeated, ignore_longer;
} LossState;

static bool loss_construct(const KernelConstruction *construction, void *memory, Status *status) {
  LossState *state = memory;
  const NodeDef *node = construction->node;
  TRY(node_attr_bool(node, "preprocess_collapse_repeated", &state->collapse_repeated, status));
  TRY(node_attr_bool(node, "ctc_merge_repeated", &state->merge_repeated, status));
  return node_attr_bool(node, "ignore_longer_outputs_than_inputs", &state->ignore_longer, status);
}

/* The kernels of CTCLossV2 have it as data: its blank is class 0 instead of the last one. */
static const bool kBlankFirst = true;

enum { INPUTS, INDICES, VALUES, LENGTHS };

typedef struct LossRun {
  const LossState *state;
  const Tensor *inputs, *lengths;
  Tensor *loss, *gradient;
  int64_t time, batch, classes;
  int shift; /* class c of the inputs is (c + shift) % classes here, so that the blank is the last one */
} LossRun;

/* One sequence; all memory is for the longest one. */
typedef struct Sequence {
  int64_t b, steps, places;
  const int32_t *labels;
  int64_t num_labels;
  int32_t *path;                   /* classes of the places */
  double *y, *alpha, *beta, *sums; /* y: [time, classes]; alpha and beta: [time, places]; sums: [classes] */
} Sequence;

/* --- checks --- */

static bool check_inputs(const KernelContext *context, Status *status) {
  const Shape *inputs = &context->inputs[INPUTS]->shape, *indices = &context->inputs[INDICES]->shape,
              *values = &context->inputs[VALUES]->shape, *lengths = &context->inputs[LENGTHS]->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (inputs->rank != 3) return status_invalid(status, "inputs is not a 3-Tensor");
  if (lengths->rank != 1) return status_invalid(status, "sequence_length is not a vector");
  if (indices->rank != 2) return status_invalid(status, "labels_indices is not a matrix");
  if (values->rank != 1) return status_invalid(status, "labels_values is not a vector");
  int64_t batch = shape_dim(inputs, 1);
  if (shape_dim(inputs, 2) >= INT32_MAX) return status_invalid(status, "num_classes cannot exceed max int");
  if (batch != shape_dim(lengths, 0)) {
    return status_invalid(status,
                          "len(sequence_length) != batch_size.  len(sequence_length):  %" PRId64
                          " batch_size: %" PRId64,
                          shape_dim(lengths, 0), batch);
  }
  if (shape_dim(indices, 0) != shape_dim(values, 0)) {
    return status_invalid(status,
                          "labels_indices and labels_values must contain the same number of rows, but saw "
                          "shapes: %s vs. %s",
                          shape_text(indices, a), shape_text(values, b));
  }
  if (batch == 0) return status_invalid(status, "batch_size must not be 0");
  if (shape_dim(indices, 1) == 2) return true;
  return status_invalid(status, "labels_indices must have two columns, but has shape %s",
                        shape_text(indices, a));
}

/* The indices of the labels are in order, and each occurs once. */
static bool check_indices(const Tensor *indices, int64_t batch, Status *status) {
  const int64_t *at = tensor_i64(indices);
  int64_t longest = 0;
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++)
    longest = at[2 * i + 1] >= longest ? at[2 * i + 1] + 1 : longest;
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    int64_t b = at[2 * i], k = at[2 * i + 1];
    const char *wrong = NULL;
    if (i > 0 && (b < at[2 * i - 2] || (b == at[2 * i - 2] && k < at[2 * i - 1])))
      wrong = "out of order. Many sparse ops require sorted indices.";
    if (i > 0 && b == at[2 * i - 2] && k == at[2 * i - 1]) wrong = "repeated";
    if (b < 0 || b >= batch || k < 0) {
      return status_invalid(status,
                            "label SparseTensor is not valid: indices[%" PRId64 "] = [%" PRId64 ",%" PRId64
                            "] is out of bounds: need 0 <= index < [%" PRId64 ",%" PRId64 "]",
                            i, b, k, batch, longest);
    }
    if (wrong) {
      return status_invalid(status,
                            "label SparseTensor is not valid: indices[%" PRId64 "] = [%" PRId64 ",%" PRId64
                            "] is %s",
                            i, b, k, wrong);
    }
  }
  return true;
}

static bool check_lengths(const LossRun *run, Status *status) {
  for (int64_t b = 0; b < run->batch; b++) {
    int64_t length = tensor_i32(run->lengths)[b];
    if (length > run->time)
      return status_invalid(status, "sequence_length(%" PRId64 ") <= %" PRId64, b, run->time);
  }
  for (int64_t b = 0; b < run->batch; b++) {
    if (tensor_i32(run->lengths)[b] < 0) return status_invalid(status, "seq_len(%" PRId64 ") < 0", b);
  }
  return true;
}

static void join(const int32_t *labels, int64_t count, int step, StrBuf *text) {
  for (int64_t i = 0; i < count; i++) strbuf_printf(text, "%s%d", i == 0 ? "" : ",", (int)labels[i * step]);
}

/* `after_null`: a label follows one of the blank; else one is negative. */
static bool refuse_labels(const Sequence *s, const LossRun *run, bool after_null, int64_t seen,
                          Status *status) {
  StrBuf all = {0}, used = {0};
  join(s->labels, s->num_labels, 1, &all);
  join(s->path + 1, seen, 2, &used);
  if (after_null) {
    status_invalid(status,
                   "Saw a non-null label (index >= num_classes - 1) following a null label, batch: %" PRId64
                   " num_classes: %" PRId64 " labels: %s labels seen so far: %s",
                   s->b, run->classes, strbuf_text(&all), strbuf_text(&used));
  } else {
    status_invalid(status, "All labels must be nonnegative integers, batch: %" PRId64 " labels: %s", s->b,
                   strbuf_text(&used));
  }
  strbuf_free(&all);
  strbuf_free(&used);
  return false;
}

/* The path of the labels; labels of the blank may only come last. */
static bool make_path(const LossRun *run, Sequence *s, Status *status) {
  bool finished = false, negative = false;
  int64_t count = 0;
  int32_t blank = (int32_t)run->classes - 1;
  if (s->num_labels == 0) return status_invalid(status, "Labels length is zero in batch %" PRId64, s->b);
  for (int64_t i = 0; i < s->num_labels; i++) {
    if (i > 0 && run->state->collapse_repeated && s->labels[i] == s->labels[i - 1]) continue;
    int32_t label = s->labels[i];
    if (run->shift != 0) label = label == 0 ? blank : label - 1;
    if (label >= blank) {
      finished = true;
      continue;
    }
    if (finished) return refuse_labels(s, run, true, count, status);
    negative = negative || label < 0;
    s->path[2 * count] = blank;
    s->path[2 * count++ + 1] = label;
  }
  if (negative) return refuse_labels(s, run, false, count, status);
  s->path[2 * count] = blank;
  s->places = 2 * count + 1;
  if (run->state->ignore_longer || s->num_labels <= s->steps) return true;
  return status_invalid(status,
                        "Not enough time for target transition sequence (required: %" PRId64
                        ", available: %" PRId64 ")%" PRId64
                        "You can turn this error into a warning by using the flag "
                        "ignore_longer_outputs_than_inputs",
                        s->num_labels, s->steps, s->b);
}

/* --- probabilities --- */

static void softmax(const LossRun *run, const Sequence *s) {
  for (int64_t t = 0; t < s->steps; t++) {
    int64_t from = (t * run->batch + s->b) * run->classes;
    double *y = s->y + t * run->classes, largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < run->classes; c++) {
      double x = ctc_at(run->inputs, from + c);
      y[(c + run->shift) % run->classes] = x;
      largest = x > largest ? x : largest;
    }
    for (int64_t c = 0; c < run->classes; c++) sum += y[c] = exp(y[c] - largest);
    for (int64_t c = 0; c < run->classes; c++) y[c] /= sum;
  }
}

/* Whether one may go from place u - 2 to u without the blank between them, and stay at u. */
static bool may_skip(const LossRun *run, const Sequence *s, int64_t u) {
  return s->path[u] != run->classes - 1 && !(run->state->merge_repeated && s->path[u] == s->path[u - 2]);
}
static bool may_stay(const LossRun *run, const Sequence *s, int64_t u) {
  return run->state->merge_repeated || s->path[u] == run->classes - 1;
}

/* The places that can be reached at time t, and from which the end can be reached. */
static int64_t first_place(const Sequence *s, int64_t t) {
  int64_t first = s->places - 2 * (s->steps - t);
  return first > 0 ? first : 0;
}
static int64_t end_of_places(const Sequence *s, int64_t t) {
  return 2 * (t + 1) < s->places ? 2 * (t + 1) : s->places;
}

static void forward(const LossRun *run, const Sequence *s) {
  int64_t n = s->places;
  for (int64_t i = 0; i < n * s->steps; i++) s->alpha[i] = -INFINITY;
  s->alpha[0] = log(s->y[run->classes - 1]);
  if (n > 1) s->alpha[1] = log(s->y[s->path[1]]);
  for (int64_t t = 1; t < s->steps; t++) {
    const double *before = s->alpha + (t - 1) * n, *y = s->y + t * run->classes;
    for (int64_t u = first_place(s, t); u < end_of_places(s, t); u++) {
      double sum = may_stay(run, s, u) ? before[u] : -INFINITY;
      if (u > 0) sum = ctc_log_sum(sum, before[u - 1]);
      if (u > 1 && may_skip(run, s, u)) sum = ctc_log_sum(sum, before[u - 2]);
      s->alpha[t * n + u] = log(y[s->path[u]]) + sum;
    }
  }
}

static void backward(const LossRun *run, const Sequence *s) {
  int64_t n = s->places;
  for (int64_t i = 0; i < n * s->steps; i++) s->beta[i] = -INFINITY;
  for (int64_t u = n > 1 ? n - 2 : 0; u < n; u++) s->beta[(s->steps - 1) * n + u] = 0;
  for (int64_t t = s->steps - 2; t >= 0; t--) {
    const double *after = s->beta + (t + 1) * n, *y = s->y + (t + 1) * run->classes;
    for (int64_t u = first_place(s, t); u < end_of_places(s, t); u++) {
      double sum = may_stay(run, s, u) ? after[u] + log(y[s->path[u]]) : -INFINITY;
      if (u + 1 < n) sum = ctc_log_sum(sum, after[u + 1] + log(y[s->path[u + 1]]));
      bool skips = u + 2 < n && s->path[u] != run->classes - 1 && may_skip(run, s, u + 2);
      if (skips) sum = ctc_log_sum(sum, after[u + 2] + log(y[s->path[u + 2]]));
      s->beta[t * n + u] = sum;
    }
  }
}

/* The gradient of the softmax's inputs: y less the share of the alignments that have the class at that time.
 */
static void put_gradient(const LossRun *run, const Sequence *s, double total) {
  for (int64_t t = 0; t < s->steps; t++) {
    int64_t to = (t * run->batch + s->b) * run->classes;
    for (int64_t c = 0; c < run->classes; c++) s->sums[c] = -INFINITY;
    for (int64_t u = 0; u < s->places; u++) {
      int64_t at = t * s->places + u;
      s->sums[s->path[u]] = ctc_log_sum(s->sums[s->path[u]], s->alpha[at] + s->beta[at]);
    }
    for (int64_t c = 0; c < run->classes; c++) {
      int64_t here = (c + run->shift) % run->classes;
      double share = total == -INFINITY ? 0 : exp(s->sums[here] - total);
      ctc_put(run->gradient, to + c, s->y[t * run->classes + here] - share);
    }
  }
}

static void run_sequence(const LossRun *run, const Sequence *s) {
  double total = -INFINITY;
  softmax(run, s);
  forward(run, s);
  backward(run, s);
  for (int64_t u = 0; u < s->places; u++) total = ctc_log_sum(total, s->alpha[u] + s->beta[u]);
  ctc_put(run->loss, s->b, -total);
  put_gradient(run, s, total);
}

/* --- CTCLoss --- */

static Buffer *sequence_memory(KernelContext *context, const LossRun *run, int64_t longest, Sequence *s,
                               Status *status) {
  int64_t places = 2 * longest + 1, cells, numbers, size;
  bool fits = !__builtin_mul_overflow(run->time, run->classes + 2 * places, &cells) &&
              !__builtin_add_overflow(cells, run->classes + places, &numbers) &&
              !__builtin_mul_overflow(numbers, (int64_t)sizeof(double), &size);
  if (!fits) {
    status_oom(status, "alignments of a sequence");
    return NULL;
  }
  Buffer *buffer = kernel_scratch(context, size, status);
  if (!buffer) return NULL;
  s->y = buffer->data;
  s->alpha = s->y + run->time * run->classes;
  s->beta = s->alpha + run->time * places;
  s->sums = s->beta + run->time * places;
  s->path = (int32_t *)(s->sums + run->classes);
  return buffer;
}

/* The labels of sequence b begin at row *row. */
static void find_labels(const Tensor *indices, const Tensor *values, int64_t b, int64_t *row, Sequence *s) {
  int64_t rows = shape_dim(&indices->shape, 0);
  s->b = b;
  s->labels = tensor_i32(values) + *row;
  s->num_labels = 0;
  for (; *row < rows && tensor_i64(indices)[2 * *row] == b; ++*row) s->num_labels++;
}

static bool run_batch(KernelContext *context, const LossRun *run, Sequence *s, Status *status) {
  const Tensor *indices = context->inputs[INDICES], *values = context->inputs[VALUES];
  int64_t row = 0;
  for (int64_t b = 0; b < run->batch; b++) {
    find_labels(indices, values, b, &row, s);
    s->steps = tensor_i32(run->lengths)[b];
    TRY(make_path(run, s, status));
    if (s->steps == 0 || (run->state->ignore_longer && s->num_labels > s->steps)) continue;
    run_sequence(run, s);
  }
  return true;
}

static bool ctc_loss(KernelContext *context, Status *status) {
  TRY(check_inputs(context, status));
  const Tensor *inputs = context->inputs[INPUTS], *indices = context->inputs[INDICES];
  LossRun run = {.state = context->state,
                 .inputs = inputs,
                 .lengths = context->inputs[LENGTHS],
                 .time = shape_dim(&inputs->shape, 0),
                 .batch = shape_dim(&inputs->shape, 1),
                 .classes = shape_dim(&inputs->shape, 2)};
  if (run.classes == 0) return status_invalid(status, "inputs must have at least one class");
  if (context->data == &kBlankFirst) run.shift = (int)run.classes - 1;
  TRY(check_indices(indices, run.batch, status));
  TRY(check_lengths(&run, status));
  TRY(kernel_allocate_output(context, 0, &run.lengths->shape, &run.loss, status));
  TRY(kernel_allocate_output(context, 1, &inputs->shape, &run.gradient, status));
  memset(run.loss->data, 0, (size_t)tensor_bytes(run.loss));
  memset(run.gradient->data, 0, (size_t)tensor_bytes(run.gradient));
  Sequence sequence = {0};
  Buffer *memory = sequence_memory(context, &run, shape_dim(&indices->shape, 0), &sequence, status);
  if (!memory) return false;
  bool ok = run_batch(context, &run, &sequence, status);
  buffer_unref(memory);
  return ok;
}

static bool loss_shape(InferenceContext *c, Status *status) {
  ShapeHandle inputs, indices, values, lengths, loss;
  DimHandle batch, rows;
  TRY(shape_with_rank(c, shape_input(c, INPUTS), 3, &inputs, status));
  TRY(shape_with_rank(c, shape_input(c, INDICES), 2, &indices, status));
  TRY(shape_with_rank(c, shape_input(c, VALUES), 1, &values, status));
  TRY(shape_with_rank(c, shape_input(c, LENGTHS), 1, &lengths, status));
  TRY(dim_merge(c, shape_dim_of(c, indices, 0), shape_dim_of(c, values, 0), &rows, status));
  TRY(dim_merge(c, shape_dim_of(c, inputs, 1), shape_dim_of(c, lengths, 0), &batch, status));
  TRY(shape_replace_dim(c, inputs, 1, batch, &inputs, status));
  TRY(shape_ok(shape_vector(c, batch), &loss, status));
  shape_set_output(c, 0, loss);
  shape_set_output(c, 1, inputs);
  return true;
}

#define GRADIENT(op, arg, type, declared, given)                                                            \
  op "Gradient[" declared                                                                                   \
     "preprocess_collapse_repeated:bool, ctc_merge_repeated:bool, ignore_longer_outputs_than_inputs:bool](" \
     "inputs:" arg ", labels_indices:int64, labels_values:int32, sequence_length:int32, dloss:" arg         \
     ", dgradient:" arg ") -> (dinputs:" arg                                                                \
     ", dindices:int64, dvalues:int32, dlength:int32) {\n"                                                  \
     "  s = " op "[" given                                                                                  \
     "preprocess_collapse_repeated=$preprocess_collapse_repeated, ctc_merge_repeated=$ctc_merge_repeated, " \
     "ignore_longer_outputs_than_inputs=$ignore_longer_outputs_than_inputs](inputs, labels_indices, "       \
     "labels_values, sequence_length)\n"                                                                    \
     "  once = PreventGradient[T=" type                                                                     \
     ", message=\"Currently there is no way to take the second derivative of ctc_loss.\"]"                  \
     "(s:gradient:0)\n"                                                                                     \
     "  last = Const[dtype=int32, value=-1]()\n"                                                            \
     "  dy = ExpandDims[T=" type                                                                            \
     ", Tdim=int32](dloss, last:output:0)\n"                                                                \
     "  dx = Mul[T=" type                                                                                   \
     "](dy:output:0, once:output:0)\n"                                                                      \
     "  di = ZerosLike[T=int64](labels_indices)\n"                                                          \
     "  dv = ZerosLike[T=int32](labels_values)\n"                                                           \
     "  dl = ZerosLike[T=int32](sequence_length)\n"                                                         \
     "  return dinputs = dx:z:0, dindices = di:y:0, dvalues = dv:y:0, dlength = dl:y:0\n"                   \
     "}\n"

const OpRegistration kOpCTCLoss = {
    .name = "CTCLoss",
    .inputs = {"inputs: T", "labels_indices: int64", "labels_values: int32", "sequence_length: int32"},
    .outputs = {"loss: T", "gradient: T"},
    .attrs = {"preprocess_collapse_repeated: bool = false", "ctc_merge_repeated: bool = true",
              "ignore_longer_outputs_than_inputs: bool = false", "T: {float, double} = DT_FLOAT"},
    .shape = loss_shape,
    .gradient = GRADIENT("CTCLoss", "T", "$T", "T:type, ", "T=$T, "),
    .state_size = sizeof(LossState),
    .construct = loss_construct,
    .kernels = {{DT_FLOAT, ctc_loss}, {DT_DOUBLE, ctc_loss}},
};

const OpRegistration kOpCTCLossV2 = {
    .name = "CTCLossV2",
    .inputs = {"inputs: float", "labels_indices: int64", "labels_values: int32", "sequence_length: int32"},
    .outputs = {"loss: float", "gradient: float"},
    .attrs = {"preprocess_collapse_repeated: bool = false", "ctc_merge_repeated: bool = true",
              "ignore_longer_outputs_than_inputs: bool = false"},
    .shape = loss_shape,
    .gradient = GRADIENT("CTCLossV2", "float", "float", "", ""),
    .state_size = sizeof(LossState),
    .construct = loss_construct,
    .kernels = {{DT_INVALID, ctc_loss, &kBlankFirst}},
};
