/* MapDataset and FilterDataset: a function is called for each element. Those that TensorFlow runs in parallel
 * call their functions in order. */
#include <string.h>

#include "ops/data/map_functions.h"

/* --- MapDataset --- */

static RunState map_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                         Status *status) {
  const MapDataset *map = (const MapDataset *)iterator->dataset;
  return map_element((MapIterator *)iterator, context, &map->function, out, end, status);
}

static const DatasetKind kMap = {.iterator_size = sizeof(MapIterator),
                                 .begin = map_begin,
                                 .next = map_next,
                                 .finish = map_finish,
                                 .cardinality = cardinality_of_input};

MapDataset *map_dataset_make(KernelContext *context, int count, Status *status) {
  return map_dataset_new(context, &kMap, count, status);
}

/* ParallelMapDataset has the number of calls as the last input. */
static bool map_dataset(KernelContext *context, Status *status) {
  const DatasetAttrs *attrs = context->data;
  int last = attrs->variant != NULL;
  int64_t calls = 1;
  if (last) TRY(dataset_int(context, context->num_inputs - 1, "num_parallel_calls", &calls, status));
  if (calls <= 0 && calls != -1)
    return status_invalid(status, "num_parallel_calls must be greater than zero.");
  MapDataset *made = map_dataset_make(context, context->num_inputs - 1 - last, status);
  return made && dataset_output(context, &made->dataset, status);
}

static const DatasetAttrs kMapAttrs = {.types = "output_types", .functions = {"f"}};
static const DatasetAttrs kParallelMapAttrs = {.types = "output_types", .functions = {"f"}, .variant = &kMap};

#define MAP_INPUTS "input_dataset: variant", "other_arguments: Targuments"
#define MAP_ATTRS "f: func", "Targuments: list(type) >= 0", DATASET_TYPES

const OpRegistration kOpMapDataset = {
    .name = "MapDataset",
    .inputs = {MAP_INPUTS},
    .attrs = {MAP_ATTRS, "use_inter_op_parallelism: bool = true", "preserve_cardinality: bool = false",
              "force_synchronous: bool = false", DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, map_dataset, &kMapAttrs}},
};

const OpRegistration kOpParallelMapDataset = {
    .name = "ParallelMapDataset",
    .inputs = {MAP_INPUTS, "num_parallel_calls: int32"},
    .attrs = {MAP_ATTRS, "use_inter_op_parallelism: bool = true", "sloppy: bool = false",
              "preserve_cardinality: bool = false", DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, map_dataset, &kParallelMapAttrs}},
};

const OpRegistration kOpParallelMapDatasetV2 = {
    .name = "ParallelMapDatasetV2",
    .inputs = {MAP_INPUTS, "num_parallel_calls: int64"},
    .attrs = {MAP_ATTRS, "use_inter_op_parallelism: bool = true", "deterministic: string = 'default'",
              "preserve_cardinality: bool = false", "use_unbounded_threadpool: bool = false",
              DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, map_dataset, &kParallelMapAttrs}},
};

/* --- FilterDataset: the elements for which the function is true --- */

/* Sets `element` to the next one of the input, and *keep to what the function says of it. */
static RunState judge(MapIterator *filter, KernelContext *context, const char *refusal, bool *keep, bool *end,
                      Status *status) {
  DataIterator *iterator = &filter->iterator;
  const MapDataset *dataset = (const MapDataset *)iterator->dataset;
  int count = iterator->dataset->num_components;
  Tensor verdict = {0};
  RunState state = map_take(filter, context, end, status);
  if (state != RUN_DONE || *end) return state;
  /* The call consumes shares of the components. */
  if (!iterator->call && !data_tensors_share(filter->args, filter->element, count, status)) return RUN_FAILED;
  state = data_call(iterator, context, &dataset->function, filter->args, count, &verdict, 1, status);
  if (state == RUN_WAITING) return state;
  filter->taken = false;
  if (state == RUN_FAILED) return state;
  bool ok = verdict.dtype == DT_BOOL && tensor_num_elements(&verdict) == 1;
  if (ok) *keep = tensor_bool(&verdict)[0];
  tensor_clear(&verdict);
  return ok || status_invalid(status, "%s", refusal) ? RUN_DONE : RUN_FAILED;
}

static void give_element(MapIterator *filter, Tensor *out) {
  for (int i = 0; i < filter->iterator.dataset->num_components; i++)
    tensor_move(&out[i], &filter->element[i]);
}

static RunState filter_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  MapIterator *filter = (MapIterator *)iterator;
  for (;;) {
    bool keep = false;
    RunState state =
        judge(filter, context, "Filter predicate `f` must return a scalar bool.", &keep, end, status);
    if (state != RUN_DONE || *end) return state;
    if (keep) {
      give_element(filter, out);
      return RUN_DONE;
    }
  }
}

static const DatasetKind kFilter = {.iterator_size = sizeof(MapIterator),
                                    .begin = map_begin,
                                    .next = filter_next,
                                    .finish = map_finish,
                                    .cardinality = cardinality_unknown};

/* --- TakeWhileDataset: the elements before the first one for which the function is false --- */

static RunState take_while_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                                Status *status) {
  MapIterator *take = (MapIterator *)iterator;
  bool keep = false;
  *end = !iterator->input;
  if (*end) return RUN_DONE;
  RunState state =
      judge(take, context, "Invalid `predicate`: it must return a scalar bool.", &keep, end, status);
  if (state != RUN_DONE || *end) return state;
  *end = !keep;
  if (keep) {
    give_element(take, out);
  } else {
    data_iterator_free(iterator->input);
    iterator->input = NULL;
  }
  return RUN_DONE;
}

static const DatasetKind kTakeWhile = {.iterator_size = sizeof(MapIterator),
                                       .begin = map_begin,
                                       .next = take_while_next,
                                       .finish = map_finish,
                                       .cardinality = cardinality_unknown};

/* --- kernels that use a predicate --- */

/* Its data's variant is the DatasetKind. ParallelFilterDataset has the number of calls as the last input. */
static bool filter_dataset(KernelContext *context, Status *status) {
  const DatasetAttrs *attrs = context->data;
  bool last = strcmp(context->op_name, "ParallelFilterDataset") == 0;
  int64_t calls = 1;
  if (last) TRY(dataset_int(context, context->num_inputs - 1, "num_parallel_calls", &calls, status));
  if (calls <= 0 && calls != -1)
    return status_invalid(status, "num_parallel_calls must be greater than zero.");
  MapDataset *made = map_dataset_new(context, attrs->variant, context->num_inputs - 1 - last, status);
  if (!made) return false;
  dataset_take_types(&made->dataset);
  return dataset_output(context, &made->dataset, status);
}

static const DatasetAttrs kFilterAttrs = {.types = "output_types",
                                          .functions = {"predicate"},
                                          .variant = &kFilter},
                          kTakeWhileAttrs = {.types = "output_types",
                                             .functions = {"predicate"},
                                             .variant = &kTakeWhile};

#define PREDICATE_ATTRS "predicate: func", "Targuments: list(type) >= 0", DATASET_TYPES

const OpRegistration kOpFilterDataset = {
    .name = "FilterDataset",
    .inputs = {MAP_INPUTS},
    .attrs = {PREDICATE_ATTRS, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, filter_dataset, &kFilterAttrs}},
};

const OpRegistration kOpParallelFilterDataset = {
    .name = "ParallelFilterDataset",
    .inputs = {MAP_INPUTS, "num_parallel_calls: int64"},
    .attrs = {"predicate: func", "deterministic: string = 'default'", "Targuments: list(type) >= 0",
              DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, filter_dataset, &kFilterAttrs}},
};

const OpRegistration kOpTakeWhileDataset = {
    .name = "TakeWhileDataset",
    .inputs = {MAP_INPUTS},
    .attrs = {PREDICATE_ATTRS, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, filter_dataset, &kTakeWhileAttrs}},
};

const OpRegistration kOpExperimentalTakeWhileDataset = {
    .name = "ExperimentalTakeWhileDataset",
    .inputs = {MAP_INPUTS},
    .attrs = {PREDICATE_ATTRS},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, filter_dataset, &kTakeWhileAttrs}},
};
