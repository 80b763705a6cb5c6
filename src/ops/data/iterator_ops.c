/* The ops that use iterators: MakeIterator, IteratorGetNext, and those on a dataset without an iterator. */
#include "ops/data/iterator_resource.h"
#include "ops/support/optional.h"

/* --- MakeIterator --- */

static RunState set_dataset(IteratorResource *resource, KernelContext *context, Status *status) {
  Dataset *dataset;
  return dataset_of_input(context, 0, &dataset, status) &&
                 iterator_resource_set(resource, dataset, context, status)
             ? RUN_DONE
             : RUN_FAILED;
}

static bool make_iterator(KernelContext *context, Status *status) {
  IteratorResource *resource;
  return iterator_of_input(context, 1, &resource, status) &&
         iterator_work(resource, set_dataset, context, status);
}

const OpRegistration kOpMakeIterator = {
    .name = "MakeIterator",
    .inputs = {"dataset: variant", "iterator: resource"},
    .is_stateful = true,
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, make_iterator}},
};

/* --- IteratorGetNext --- */

static bool get_next_shape(InferenceContext *c, Status *status) {
  ShapeHandle ignored;
  return shape_with_rank(c, shape_input(c, 0), 0, &ignored, status) && shape_listed(c, status);
}

static bool require_dataset(const IteratorResource *resource, Status *status) {
  return resource->iterator ||
         status_set(status, CODE_FAILED_PRECONDITION,
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have "
                    "run "
                    "the initializer operation for this iterator before getting the next element.");
}

static bool check_outputs(const KernelContext *context, const Dataset *dataset, Status *status) {
  return dataset_check_types(context->output_types, NULL, context->num_outputs, dataset->types, NULL,
                             dataset->num_components, status);
}

static RunState take_element(IteratorResource *resource, KernelContext *context, Status *status) {
  bool end = false;
  if (!require_dataset(resource, status) || !check_outputs(context, resource->iterator->dataset, status))
    return RUN_FAILED;
  RunState state = data_next(resource->iterator, context, context->outputs, &end, status);
  if (state != RUN_DONE || !end) return state;
  status_set(status, CODE_OUT_OF_RANGE, "End of sequence");
  return RUN_FAILED;
}

static bool get_next(KernelContext *context, Status *status) {
  IteratorResource *resource;
  return iterator_of_input(context, 0, &resource, status) &&
         iterator_work(resource, take_element, context, status);
}

#define GET_NEXT                                                                                      \
  .inputs = {"iterator: resource"}, .outputs = {"components: output_types"},                          \
  .attrs = {"output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"}, .is_stateful = true, \
  .shape = get_next_shape, .gradient = NO_GRADIENT

const OpRegistration kOpIteratorGetNext = {
    .name = "IteratorGetNext",
    GET_NEXT,
    .kernels = {{DT_INVALID, get_next}},
};
const OpRegistration kOpIteratorGetNextSync = {
    .name = "IteratorGetNextSync",
    GET_NEXT,
    .kernels = {{DT_INVALID, get_next}},
};

/* --- IteratorGetNextAsOptional --- */

static RunState take_optional(IteratorResource *resource, KernelContext *context, Status *status) {
  bool end = false;
  if (!require_dataset(resource, status)) return RUN_FAILED;
  int count = resource->iterator->dataset->num_components;
  Optional *optional = optional_new(true, count, status);
  if (!optional) return RUN_FAILED;
  RunState state = data_next(resource->iterator, context, optional->components, &end, status);
  if (state != RUN_DONE) {
    tensor_object_unref(&optional->variant.object);
    return state;
  }
  if (end) {
    optional->has_value = false;
    optional->count = 0;
  }
  bool ok = true;
  for (int i = 0; ok && i < optional->count; i++)
    ok = variant_check_depth(&optional->components[i], &optional->depth, status);
  if (!ok) tensor_object_unref(&optional->variant.object);
  return ok && optional_set_output(context, optional, status) ? RUN_DONE : RUN_FAILED;
}

static bool get_next_as_optional(KernelContext *context, Status *status) {
  IteratorResource *resource;
  return iterator_of_input(context, 0, &resource, status) &&
         iterator_work(resource, take_optional, context, status);
}

const OpRegistration kOpIteratorGetNextAsOptional = {
    .name = "IteratorGetNextAsOptional",
    .inputs = {"iterator: resource"},
    .outputs = {"optional: variant"},
    .attrs = {"output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, get_next_as_optional}},
};

/* --- DeleteIterator --- */

static RunState drop(IteratorResource *resource, KernelContext *context, Status *status) {
  (void)context, (void)status;
  resource->resource.close(&resource->resource);
  return RUN_DONE;
}

static bool delete_iterator(KernelContext *context, Status *status) {
  IteratorResource *resource;
  return iterator_of_input(context, 0, &resource, status) && iterator_work(resource, drop, context, status);
}

const OpRegistration kOpDeleteIterator = {
    .name = "DeleteIterator",
    .inputs = {"handle: resource", "deleter: variant"},
    .is_stateful = true,
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, delete_iterator}},
};

/* --- DatasetCardinality --- */

static bool cardinality(KernelContext *context, Status *status) {
  Dataset *dataset;
  Tensor *out;
  TRY(dataset_of_input(context, 0, &dataset, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  tensor_i64(out)[0] = dataset_cardinality(dataset);
  return true;
}

const OpRegistration kOpDatasetCardinality = {
    .name = "DatasetCardinality",
    .inputs = {"input_dataset: variant"},
    .outputs = {"cardinality: int64"},
    .attrs = {"cardinality_options: string = ''"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, cardinality}},
};
