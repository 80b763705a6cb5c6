/* ZipDataset: an element joins the components of one element of each input. It ends with the first input that
 * ends. */
#include "base/alloc.h"
#include "ops/data/data_iterator.h"

typedef struct ZipIterator {
  DataIterator iterator;
  DataIterator **inputs;
  Tensor *elements; /* of the inputs before `at` */
  int at, filled;   /* inputs, components */
} ZipIterator;

static bool zip_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  ZipIterator *zip = (ZipIterator *)iterator;
  const Dataset *dataset = iterator->dataset;
  zip->elements = data_tensors_new(dataset->num_components, status);
  zip->inputs = mem_calloc(dataset->num_inputs, sizeof *zip->inputs);
  if (!zip->elements || !zip->inputs) return status_oom(status, "an iterator");
  for (int i = 0; i < dataset->num_inputs; i++)
    TRY(data_iterator_new(dataset->inputs[i], iterator, context, &zip->inputs[i], status));
  return true;
}

static void zip_finish(DataIterator *iterator) {
  ZipIterator *zip = (ZipIterator *)iterator;
  data_tensors_free(zip->elements, iterator->dataset->num_components);
  mem_free(zip->inputs);
}

static RunState zip_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                         Status *status) {
  ZipIterator *zip = (ZipIterator *)iterator;
  const Dataset *dataset = iterator->dataset;
  for (; zip->at < dataset->num_inputs; zip->at++) {
    RunState state = data_next(zip->inputs[zip->at], context, zip->elements + zip->filled, end, status);
    if (state == RUN_WAITING) return state;
    if (state == RUN_FAILED || *end) {
      data_tensors_clear(zip->elements, zip->filled);
      zip->at = zip->filled = 0;
      return state;
    }
    zip->filled += dataset->inputs[zip->at]->num_components;
  }
  for (int i = 0; i < zip->filled; i++) tensor_move(&out[i], &zip->elements[i]);
  zip->at = zip->filled = 0;
  return RUN_DONE;
}

/* The least of the inputs: infinite only if all are. */
static int64_t zip_cardinality(const Dataset *dataset) {
  int64_t least = CARDINALITY_INFINITE;
  for (int i = 0; i < dataset->num_inputs; i++) {
    int64_t input = dataset_cardinality(dataset->inputs[i]);
    if (input == CARDINALITY_UNKNOWN) return CARDINALITY_UNKNOWN;
    if (input >= 0 && (least < 0 || input < least)) least = input;
  }
  return least;
}

static const DatasetKind kZip = {.iterator_size = sizeof(ZipIterator),
                                 .begin = zip_begin,
                                 .next = zip_next,
                                 .finish = zip_finish,
                                 .cardinality = zip_cardinality};

static bool check_components(const Dataset *made, Status *status) {
  int components = 0;
  for (int i = 0; i < made->num_inputs; i++) components += made->inputs[i]->num_components;
  return components == made->num_components ||
         status_invalid(status, "Number of components does not match: expected %d types but got %d.",
                        made->num_components, components);
}

static bool zip_dataset(KernelContext *context, Status *status) {
  Dataset *made = dataset_new(context, &kZip, sizeof *made, status);
  bool ok = made != NULL;
  for (int i = 0; ok && i < context->num_inputs; i++) ok = dataset_add_input(context, i, made, status);
  return ok && check_components(made, status) ? dataset_output(context, made, status) : dataset_drop(made);
}

const OpRegistration kOpZipDataset = {
    .name = "ZipDataset",
    .inputs = {"input_datasets: N * variant"},
    .attrs = {DATASET_TYPES, "N: int >= 1", DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, zip_dataset, &kDatasetAttrs}},
};
