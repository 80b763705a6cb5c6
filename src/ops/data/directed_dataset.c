/* DirectedInterleaveDataset: a dataset of numbers says from which of several datasets each element comes. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/data/data_iterator.h"

/* Input 0 gives the numbers, the others the elements. */
typedef struct DirectedDataset {
  Dataset dataset;
  bool stops; /* at the end of any of them, and not at that of all */
} DirectedDataset;

typedef struct DirectedIterator {
  DataIterator iterator; /* `input` gives the numbers */
  DataIterator **open;   /* children; NULL: it has ended */
  int64_t left;          /* those that have not ended */
  int64_t chosen;        /* -1: not yet */
} DirectedIterator;

static bool directed_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  DirectedIterator *directed = (DirectedIterator *)iterator;
  const Dataset *dataset = iterator->dataset;
  directed->chosen = -1;
  directed->left = dataset->num_inputs - 1;
  directed->open = mem_calloc(directed->left, sizeof *directed->open);
  if (!directed->open) return status_oom(status, "an iterator");
  for (int64_t i = 0; i < directed->left; i++)
    TRY(data_iterator_new(dataset->inputs[i + 1], iterator, context, &directed->open[i], status));
  return data_begin_input(iterator, context, status);
}

static void directed_finish(DataIterator *iterator) { mem_free(((DirectedIterator *)iterator)->open); }

/* Sets `chosen` to the next number. */
static RunState choose(DirectedIterator *directed, KernelContext *context, bool *end, Status *status) {
  Tensor number = {0};
  int64_t count = directed->iterator.dataset->num_inputs - 1, chosen = -1;
  RunState state = data_next(directed->iterator.input, context, &number, end, status);
  if (state != RUN_DONE || *end) return state;
  if (tensor_num_elements(&number) == 1) chosen = tensor_i64(&number)[0];
  tensor_clear(&number);
  if (chosen < 0 || chosen >= count) {
    status_invalid(status, "Selector index out of range: %lld >= %lld", (long long)chosen, (long long)count);
    return RUN_FAILED;
  }
  directed->chosen = chosen;
  return RUN_DONE;
}

static RunState directed_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                              Status *status) {
  DirectedIterator *directed = (DirectedIterator *)iterator;
  while (directed->left > 0) {
    if (directed->chosen < 0) {
      RunState state = choose(directed, context, end, status);
      if (state != RUN_DONE || *end) return state;
    }
    DataIterator **place = &directed->open[directed->chosen];
    bool ended = !*place;
    RunState state = ended ? RUN_DONE : data_next(*place, context, out, &ended, status);
    if (state == RUN_WAITING) return state;
    directed->chosen = -1;
    if (state == RUN_FAILED || !ended) return state;
    if (!*place) continue;
    data_iterator_free(*place);
    *place = NULL;
    directed->left = ((const DirectedDataset *)iterator->dataset)->stops ? 0 : directed->left - 1;
  }
  *end = true;
  return RUN_DONE;
}

static const DatasetKind kDirected = {.iterator_size = sizeof(DirectedIterator),
                                      .begin = directed_begin,
                                      .next = directed_next,
                                      .finish = directed_finish,
                                      .cardinality = cardinality_unknown};

typedef struct DirectedState {
  DatasetState base;
  bool stops;
} DirectedState;

static bool directed_construct(const KernelConstruction *construction, void *memory, Status *status) {
  DirectedState *state = memory;
  TRY(dataset_construct(construction, memory, status));
  return !node_def_attr(construction->node, "stop_on_empty_dataset") ||
         node_attr_bool(construction->node, "stop_on_empty_dataset", &state->stops, status);
}

static bool refuse_types(const Dataset *first, const Dataset *other, int i, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, "All inputs must have the same output_dtypes. First input has types ");
  for (int c = 0; c < first->num_components; c++)
    strbuf_printf(&text, "%s%s", c > 0 ? ", " : "", dtype_name(first->types[c]));
  strbuf_printf(&text, ", and input %d has types ", i);
  for (int c = 0; c < other->num_components; c++)
    strbuf_printf(&text, "%s%s", c > 0 ? ", " : "", dtype_name(other->types[c]));
  if (strbuf_ok(&text, status)) status_invalid(status, "%s", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool check_inputs(const Dataset *made, Status *status) {
  const Dataset *selector = made->inputs[0], *first = made->inputs[1];
  if (selector->num_components != 1 || selector->types[0] != DT_INT64)
    return status_invalid(status, "The selector input must be a dataset of scalar int64 elements.");
  for (int i = 2; i < made->num_inputs; i++) {
    const Dataset *other = made->inputs[i];
    bool same = first->num_components == other->num_components;
    for (int c = 0; same && c < first->num_components; c++) same = first->types[c] == other->types[c];
    if (!same) return refuse_types(first, other, i - 1, status);
  }
  return made->num_components == first->num_components ||
         status_invalid(status, "Number of components does not match: expected %d types but got %d.",
                        made->num_components, first->num_components);
}

static bool directed_dataset(KernelContext *context, Status *status) {
  DirectedDataset *made = dataset_new(context, &kDirected, sizeof *made, status);
  if (!made) return false;
  made->stops = ((const DirectedState *)context->state)->stops;
  bool ok = true;
  for (int i = 0; ok && i < context->num_inputs; i++)
    ok = dataset_add_input(context, i, &made->dataset, status);
  if (!ok || !check_inputs(&made->dataset, status)) return dataset_drop(&made->dataset);
  made->dataset.types = made->dataset.inputs[1]->types;
  return dataset_output(context, &made->dataset, status);
}

#define DIRECTED                                                                         \
  .inputs = {"selector_input_dataset: variant", "data_input_datasets: N * variant"},     \
  .outputs = {"handle: variant"}, .shape = shape_scalar_output, .gradient = NO_GRADIENT, \
  .state_size = sizeof(DirectedState), .construct = directed_construct,                  \
  .kernels = {{DT_INVALID, directed_dataset, &kDatasetAttrs}}

const OpRegistration kOpDirectedInterleaveDataset = {
    .name = "DirectedInterleaveDataset",
    .attrs = {DATASET_TYPES, "N: int >= 1", "stop_on_empty_dataset: bool = false"},
    DIRECTED,
};

const OpRegistration kOpExperimentalDirectedInterleaveDataset = {
    .name = "ExperimentalDirectedInterleaveDataset",
    .attrs = {DATASET_TYPES, "N: int >= 1"},
    DIRECTED,
};
