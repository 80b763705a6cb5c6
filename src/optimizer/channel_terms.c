#include "optimizer/channel_terms.h"

#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "optimizer/dead_values.h"
#include "optimizer/optimizer_internal.h"

bool channel_terms_begin(ChannelTerms *terms, Arena *arena, Status *status) {
  terms->scale = arena_calloc(arena, terms->channels, sizeof(double));
  terms->offset = arena_calloc(arena, terms->channels, sizeof(double));
  if (!terms->scale || !terms->offset) return status_oom(status, "fusing nodes");
  for (int64_t i = 0; i < terms->channels; i++) terms->scale[i] = 1;
  return true;
}

static double element(const Tensor *value, int64_t i) {
  return value->dtype == DT_DOUBLE ? tensor_f64(value)[i] : (double)tensor_f32(value)[i];
}

/* Whether the tensor has one element in all, or one for each channel and none for other dimensions. */
static bool is_by_channel(const ChannelTerms *terms, const Tensor *value) {
  int32_t rank = value->shape.rank, end = rank - terms->after, begin = end - terms->split;
  int64_t elements = tensor_num_elements(value), channels = 1;
  if (value->dtype != terms->type || rank > terms->rank) return false;
  for (int32_t i = begin < 0 ? 0 : begin; i < end; i++) channels *= shape_dim(&value->shape, i);
  return elements == 1 || (elements == terms->channels && channels == elements);
}

/* --- single constants --- */

typedef enum TermKind { NO_TERM, FACTOR, TERM, NEGATIVE_TERM } TermKind;

/* Whether the channels of the node's input are where those of the product are. */
static bool has_format(const ChannelTerms *terms, const Node *node) {
  return optimizer_attr_is(node, "data_format", terms->after > 0 ? "NCHW" : "NHWC");
}

/* What the node does with its other input. */
static TermKind kind_of(const ChannelTerms *terms, const Node *node, int input) {
  const char *op = node->def->op;
  if (strcmp(op, "Mul") == 0) return FACTOR;
  if (strcmp(op, "AddV2") == 0 || strcmp(op, "Add") == 0) return TERM;
  if (input != 0) return NO_TERM;
  if (strcmp(op, "Sub") == 0) return NEGATIVE_TERM;
  if (strcmp(op, "BiasAdd") != 0) return NO_TERM;
  return has_format(terms, node) ? TERM : NO_TERM;
}

static void apply(ChannelTerms *terms, TermKind kind, const Tensor *value) {
  int64_t step = tensor_num_elements(value) == 1 ? 0 : 1;
  for (int64_t c = 0; c < terms->channels; c++) {
    double x = element(value, c * step);
    if (kind == FACTOR) {
      terms->scale[c] *= x;
      terms->offset[c] *= x;
    } else {
      terms->offset[c] += kind == TERM ? x : -x;
    }
  }
  *(kind == FACTOR ? &terms->has_scale : &terms->has_offset) = true;
}

static bool add_constant(ChannelTerms *terms, TermKind kind, const Node *node, int input, bool *added,
                         Status *status) {
  Tensor value = {0};
  bool is_bias = strcmp(node->def->op, "BiasAdd") == 0;
  TRY(dead_values_constant(node->inputs[1 - input]->src, edge_value(node->inputs[input]), &value, added,
                           status));
  if (!*added) return true;
  *added = is_bias ? value.shape.rank == 1 && value.dtype == terms->type &&
                         tensor_num_elements(&value) == terms->channels
                   : is_by_channel(terms, &value);
  if (*added) {
    apply(terms, kind, &value);
    terms->constant = node->inputs[1 - input]->src;
  }
  tensor_clear(&value);
  return true;
}

/* --- batch norm --- */

static bool is_batch_norm(const ChannelTerms *terms, const Node *node, int input) {
  if (strncmp(node->def->op, "FusedBatchNorm", strlen("FusedBatchNorm")) != 0 || node->num_inputs != 5 ||
      input != 0)
    return false;
  const AttrValue *training = node_def_attr(node->def, "is_training"), *type = node_def_attr(node->def, "U");
  if (!training || training->b || terms->type != DT_FLOAT || (type && (DataType)type->type != DT_FLOAT) ||
      !has_format(terms, node))
    return false;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (node->out_edges[i]->src_output != 0) return false;
  }
  return true;
}

/* The constants are scale, offset, mean and variance. */
static bool add_batch_norm(ChannelTerms *terms, const Node *node, bool *added, Status *status) {
  Tensor values[4] = {{0}};
  float epsilon;
  bool ok = node_attr_float(node->def, "epsilon", &epsilon, status);
  for (int i = 0; ok && *added && i < 4; i++) {
    ok = dead_values_constant(node->inputs[i + 1]->src, edge_value(node->inputs[0]), &values[i], added,
                              status);
    *added = ok && *added && values[i].dtype == DT_FLOAT && values[i].shape.rank == 1 &&
             tensor_num_elements(&values[i]) == terms->channels;
  }
  for (int64_t c = 0; ok && *added && c < terms->channels; c++) {
    double factor = element(&values[0], c) / sqrt(element(&values[3], c) + (double)epsilon);
    terms->scale[c] *= factor;
    terms->offset[c] = (terms->offset[c] - element(&values[2], c)) * factor + element(&values[1], c);
    terms->has_scale = terms->has_offset = true;
    terms->constant = node->inputs[1]->src;
  }
  for (int i = 0; i < 4; i++) tensor_clear(&values[i]);
  return ok;
}

/* --- all --- */

bool channel_terms_add(ChannelTerms *terms, const Node *node, int input, bool may_scale, bool *added,
                       Status *status) {
  *added = may_scale && is_batch_norm(terms, node, input);
  if (*added) return add_batch_norm(terms, node, added, status);
  TermKind kind = node->num_inputs == 2 ? kind_of(terms, node, input) : NO_TERM;
  if (kind == NO_TERM || (kind == FACTOR && !may_scale)) return true;
  return add_constant(terms, kind, node, input, added, status);
}

/* Runs of `run` elements belong to one channel, and then to the next. Rows of one element a channel have a
 * loop without tests, which becomes one of vectors. */
#define SCALE(name, type)                                                                               \
  static void name(const ChannelTerms *terms, int64_t count, int64_t run, const void *from, void *to) { \
    const int64_t channels = terms->channels;                                                           \
    const double *scales = terms->scale;                                                                \
    const type *x = from;                                                                               \
    type *y = to;                                                                                       \
    int64_t i = 0;                                                                                      \
    for (; run == 1 && channels <= count - i; i += channels) {                                          \
      for (int64_t c = 0; c < channels; c++) y[i + c] = (type)((double)x[i + c] * scales[c]);           \
    }                                                                                                   \
    for (int64_t c = 0; i < count; c = c + 1 < channels ? c + 1 : 0) {                                  \
      const double scale = scales[c];                                                                   \
      for (int64_t end = i + run; i < end; i++) y[i] = (type)((double)x[i] * scale);                    \
    }                                                                                                   \
  }
SCALE(scale_f32, float)
SCALE(scale_f64, double)

/* The loops are called by pointer for a few rows at a time: V8 replaces its first, slow code of a function
 * only where the function is called again. */
static void (*const kScale[])(const ChannelTerms *terms, int64_t count, int64_t run, const void *from,
                              void *to) = {scale_f32, scale_f64};

void channel_terms_scale(const ChannelTerms *terms, const Tensor *from, int64_t run, Tensor *to) {
  enum { AT_ONCE = 1 << 13 };
  int64_t count = tensor_num_elements(from), size = (int64_t)dtype_size(to->dtype);
  int64_t rows = AT_ONCE / terms->channels, most = run == 1 && rows > 0 ? rows * terms->channels : count;
  const char *x = from->data;
  char *y = to->data;
  for (int64_t i = 0; i < count; i += most) {
    int64_t piece = count - i < most ? count - i : most;
    kScale[to->dtype == DT_DOUBLE](terms, piece, run, x + i * size, y + i * size);
  }
}

bool channel_terms_offset(const ChannelTerms *terms, Tensor *to, Status *status) {
  TRY(tensor_allocate_dims(to, terms->type, 1, &terms->channels, NULL, status));
  for (int64_t c = 0; c < terms->channels; c++) {
    if (to->dtype == DT_DOUBLE) tensor_f64(to)[c] = terms->offset[c];
    else tensor_f32(to)[c] = (float)terms->offset[c];
  }
  return true;
}
