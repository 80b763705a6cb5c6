/* Datasets whose function returns a dataset for each element: FlatMapDataset, and InterleaveDataset, which
 * takes turns. Those that TensorFlow runs in parallel take the same turns here. */
#include "base/alloc.h"
#include "ops/data/map_functions.h"

/* Goes through `cycle` datasets side by side, `block` elements at a time; FlatMapDataset has 1 and no limit.
 */
typedef struct InterleaveDataset {
  MapDataset map;
  int64_t cycle, block;
} InterleaveDataset;

typedef struct InterleaveIterator {
  MapIterator map;
  DataIterator **open; /* children; NULL: none at this place */
  int64_t capacity, num_open;
  int64_t at, taken; /* the place whose turn it is, and how many elements it gave */
  bool ended;        /* the input has no more elements */
} InterleaveIterator;

static void interleave_finish(DataIterator *iterator) {
  mem_free(((InterleaveIterator *)iterator)->open);
  map_finish(iterator);
}

/* The dataset that the function returns for the next element, as a child of the iterator. */
static RunState open_next(InterleaveIterator *interleave, KernelContext *context, DataIterator **opened,
                          bool *end, Status *status) {
  DataIterator *iterator = &interleave->map.iterator;
  const InterleaveDataset *made = (const InterleaveDataset *)iterator->dataset;
  Tensor returned = {0};
  Dataset *dataset;
  RunState state = map_take(&interleave->map, context, end, status);
  if (state != RUN_DONE || *end) return state;
  state = data_call(iterator, context, &made->map.function, interleave->map.element,
                    iterator->dataset->inputs[0]->num_components, &returned, 1, status);
  if (state == RUN_WAITING) return state;
  interleave->map.taken = false;
  bool ok = state == RUN_DONE && dataset_of_tensor(&returned, &dataset, status);
  if (ok && dataset->num_components != iterator->dataset->num_components) {
    ok = status_invalid(status, "Number of components does not match: expected %d types but got %d.",
                        iterator->dataset->num_components, dataset->num_components);
  }
  ok = ok && data_iterator_new(dataset, iterator, context, opened, status);
  tensor_clear(&returned);
  return ok ? RUN_DONE : RUN_FAILED;
}

/* Once the input has ended, places that were never taken stay free. */
static void take_turns(InterleaveIterator *interleave, int64_t cycle) {
  int64_t places = interleave->ended ? interleave->num_open : cycle;
  interleave->at = interleave->at + 1 < places ? interleave->at + 1 : 0;
  interleave->taken = 0;
}

/* The place whose turn it is; *place is NULL when the input has ended and the place is free. */
static RunState current_place(InterleaveIterator *interleave, KernelContext *context, DataIterator **place,
                              Status *status) {
  if (!mem_grow((void **)&interleave->open, &interleave->capacity, interleave->at + 1,
                sizeof *interleave->open)) {
    status_oom(status, "an iterator");
    return RUN_FAILED;
  }
  while (interleave->num_open <= interleave->at) interleave->open[interleave->num_open++] = NULL;
  *place = interleave->open[interleave->at];
  if (*place || interleave->ended) return RUN_DONE;
  bool end = false;
  RunState state = open_next(interleave, context, place, &end, status);
  if (state != RUN_DONE) return state;
  interleave->ended = end;
  interleave->open[interleave->at] = *place;
  return RUN_DONE;
}

static bool any_open(const InterleaveIterator *interleave) {
  for (int64_t i = 0; i < interleave->num_open; i++) {
    if (interleave->open[i]) return true;
  }
  return false;
}

static RunState interleave_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                                Status *status) {
  InterleaveIterator *interleave = (InterleaveIterator *)iterator;
  const InterleaveDataset *dataset = (const InterleaveDataset *)iterator->dataset;
  for (;;) {
    DataIterator *place = NULL;
    RunState state = current_place(interleave, context, &place, status);
    if (state != RUN_DONE) return state;
    if (!place) {
      *end = !any_open(interleave);
      if (*end) return RUN_DONE;
      take_turns(interleave, dataset->cycle);
      continue;
    }
    bool place_ended = false;
    state = data_next(place, context, out, &place_ended, status);
    if (state != RUN_DONE) return state;
    if (!place_ended) {
      if (++interleave->taken == dataset->block) take_turns(interleave, dataset->cycle);
      return RUN_DONE;
    }
    data_iterator_free(place);
    interleave->open[interleave->at] = NULL;
    take_turns(interleave, dataset->cycle);
  }
}

static const DatasetKind kInterleave = {.iterator_size = sizeof(InterleaveIterator),
                                        .begin = map_begin,
                                        .next = interleave_next,
                                        .finish = interleave_finish,
                                        .cardinality = cardinality_unknown};

/* The number of inputs behind the captured ones. */
typedef struct InterleaveInputs {
  int count;
} InterleaveInputs;

static bool read_turns(KernelContext *context, int count, InterleaveDataset *made, Status *status) {
  int first = context->num_inputs - count;
  TRY(dataset_int(context, first, "cycle_length", &made->cycle, status));
  TRY(dataset_int(context, first + 1, "block_length", &made->block, status));
  if (made->cycle == -1 && count > 2) made->cycle = 2; /* TensorFlow's choice depends on the processors */
  if (made->cycle <= 0) return status_invalid(status, "cycle_length must be greater than zero.");
  return made->block > 0 || status_invalid(status, "block_length must be greater than zero.");
}

static bool interleave_dataset(KernelContext *context, Status *status) {
  const DatasetAttrs *attrs = context->data;
  const InterleaveInputs *inputs = attrs->variant;
  int captured = context->num_inputs - 1 - inputs->count;
  InterleaveDataset *made = dataset_new(context, &kInterleave, sizeof *made, status);
  if (!made) return false;
  Dataset *dataset = &made->map.dataset;
  bool ok = dataset_add_input(context, 0, dataset, status) &&
            dataset_add_tensors(context, 1, captured, dataset, status);
  made->cycle = 1;
  made->block = INT64_MAX;
  ok = ok && (inputs->count == 0 || read_turns(context, inputs->count, made, status));
  if (!ok) return dataset_drop(dataset);
  made->map.function = dataset_function(context, 0, dataset, 0);
  return dataset_output(context, dataset, status);
}

static const InterleaveInputs kNone = {0}, kTwo = {2}, kThree = {3}, kFive = {5};
static const DatasetAttrs kFlat = {.types = "output_types", .functions = {"f"}, .variant = &kNone},
                          kTurns = {.types = "output_types", .functions = {"f"}, .variant = &kTwo},
                          kParallelTurns = {.types = "output_types", .functions = {"f"}, .variant = &kThree},
                          kBufferedTurns = {.types = "output_types", .functions = {"f"}, .variant = &kFive};

#define INTERLEAVE_INPUTS "input_dataset: variant", "other_arguments: Targuments"
#define TURNS "cycle_length: int64", "block_length: int64"
#define ARGUMENTS "Targuments: list(type) >= 0", DATASET_TYPES

const OpRegistration kOpFlatMapDataset = {
    .name = "FlatMapDataset",
    .inputs = {INTERLEAVE_INPUTS},
    .attrs = {"f: func", ARGUMENTS, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, interleave_dataset, &kFlat}},
};

const OpRegistration kOpInterleaveDataset = {
    .name = "InterleaveDataset",
    .inputs = {INTERLEAVE_INPUTS, TURNS},
    .attrs = {"f: func", ARGUMENTS, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, interleave_dataset, &kTurns}},
};

const OpRegistration kOpParallelInterleaveDatasetV2 = {
    .name = "ParallelInterleaveDatasetV2",
    .inputs = {INTERLEAVE_INPUTS, TURNS, "num_parallel_calls: int64"},
    .attrs = {"f: func", ARGUMENTS, "sloppy: bool = false", DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, interleave_dataset, &kParallelTurns}},
};

const OpRegistration kOpParallelInterleaveDatasetV3 = {
    .name = "ParallelInterleaveDatasetV3",
    .inputs = {INTERLEAVE_INPUTS, TURNS, "num_parallel_calls: int64"},
    .attrs = {"f: func", "deterministic: string = 'default'", ARGUMENTS, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, interleave_dataset, &kParallelTurns}},
};

const OpRegistration kOpParallelInterleaveDatasetV4 = {
    .name = "ParallelInterleaveDatasetV4",
    .inputs = {INTERLEAVE_INPUTS, TURNS, "buffer_output_elements: int64", "prefetch_input_elements: int64",
               "num_parallel_calls: int64"},
    .attrs = {"f: func", "deterministic: string = 'default'", ARGUMENTS, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, interleave_dataset, &kBufferedTurns}},
};
