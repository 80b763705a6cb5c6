#include "ops/data/dataset_read.h"

#include "base/alloc.h"
#include "ops/data/data_iterator.h"

typedef struct PausedRead {
  PausedKernel paused;
  DataIterator *iterator;
  Tensor *element, *more; /* the first element, and one that must not be there */
  bool first;             /* `element` is set */
} PausedRead;

static void end_read(PausedRead *read) {
  int count = read->iterator->dataset->num_components;
  data_tensors_free(read->element, count);
  data_tensors_free(read->more, count);
  data_iterator_free(read->iterator);
  mem_free(read);
}

static void abandon_read(PausedKernel *paused) { end_read((PausedRead *)paused); }

/* Takes over the reference to the dataset. */
static PausedRead *begin_read(KernelContext *context, Dataset *dataset, Status *status) {
  DataIterator *iterator = NULL;
  PausedRead *read = NULL;
  bool ok = dataset && data_iterator_new(dataset, NULL, context, &iterator, status);
  if (ok && !(read = mem_calloc(1, sizeof *read))) status_oom(status, "an iterator");
  if (!read) {
    data_iterator_free(iterator);
    dataset_drop(dataset);
    return NULL;
  }
  *read = (PausedRead){{abandon_read}, iterator, NULL, NULL, false};
  read->element = data_tensors_new(dataset->num_components, status);
  read->more = data_tensors_new(dataset->num_components, status);
  ok = read->element && read->more &&
       dataset_check_types(context->output_types, NULL, context->num_outputs, dataset->types, NULL,
                           dataset->num_components, status);
  dataset_drop(dataset);
  if (ok) return read;
  end_read(read);
  return NULL;
}

static RunState advance(PausedRead *read, KernelContext *context, DatasetRead which, Status *status) {
  bool end;
  if (!read->first) {
    RunState state = data_next(read->iterator, context, read->element, &end, status);
    if (state != RUN_DONE) return state;
    if (end) {
      status_invalid(status, "Dataset was empty.");
      return RUN_FAILED;
    }
    read->first = true;
  }
  if (which == READ_FIRST) return RUN_DONE;
  RunState state = data_next(read->iterator, context, read->more, &end, status);
  if (state != RUN_DONE || end) return state;
  status_invalid(status, "Dataset had more than one element.");
  return RUN_FAILED;
}

bool dataset_read_one(KernelContext *context, Dataset *(*make)(KernelContext *, Status *), DatasetRead which,
                      Status *status) {
  PausedRead *read = (PausedRead *)context->paused;
  context->paused = NULL;
  if (!context->step) return status_set(status, CODE_FAILED_PRECONDITION, "Only a step can read a dataset");
  if (!read) read = begin_read(context, make(context, status), status);
  if (!read) return false;
  RunState state = advance(read, context, which, status);
  if (state == RUN_WAITING) {
    context->paused = &read->paused;
    return true;
  }
  for (int i = 0; state == RUN_DONE && i < context->num_outputs; i++)
    tensor_move(&context->outputs[i], &read->element[i]);
  end_read(read);
  return state == RUN_DONE;
}

/* --- DatasetToSingleElement --- */

static Dataset *first_input(KernelContext *context, Status *status) {
  Dataset *dataset;
  if (!dataset_of_input(context, 0, &dataset, status)) return NULL;
  tensor_object_ref(&dataset->variant.object);
  return dataset;
}

static bool single_element(KernelContext *context, Status *status) {
  return dataset_read_one(context, first_input, READ_ONLY, status);
}

const OpRegistration kOpDatasetToSingleElement = {
    .name = "DatasetToSingleElement",
    .inputs = {"dataset: variant"},
    .outputs = {"components: output_types"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    .is_stateful = true,
    .shape = shape_listed,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, single_element}},
};
