/* WindowDataset: an element consists of one dataset per component, which holds consecutive elements of the
 * input. */
#include "ops/data/data_rows.h"

typedef struct WindowDataset {
  Dataset dataset;
  int64_t size, shift, stride;
  bool drop_remainder;
} WindowDataset;

typedef struct WindowIterator {
  RowsIterator rows;
  int64_t to_skip; /* elements between windows, when the shift exceeds the window */
} WindowIterator;

/* --- the dataset of a window: its tensors are its elements --- */

typedef struct WindowReader {
  DataIterator iterator;
  int64_t at;
} WindowReader;

static RunState elements_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                              Status *status) {
  (void)context;
  WindowReader *reader = (WindowReader *)iterator;
  const Dataset *dataset = iterator->dataset;
  *end = reader->at == dataset->num_tensors;
  if (*end) return RUN_DONE;
  return tensor_assign(&out[0], &dataset->tensors[reader->at++], status) ? RUN_DONE : RUN_FAILED;
}

static int64_t elements_cardinality(const Dataset *dataset) { return dataset->num_tensors; }

static const DatasetKind kElements = {.iterator_size = sizeof(WindowReader),
                                      .next = elements_next,
                                      .cardinality = elements_cardinality};

/* Component `i` of every `stride`-th of `count` gathered elements, as a dataset in `out`. */
static bool window_of(const WindowIterator *window, int i, int64_t count, KernelContext *context, Tensor *out,
                      Status *status) {
  const WindowDataset *from = (const WindowDataset *)window->rows.iterator.dataset;
  const Dataset *input = from->dataset.inputs[0];
  const TensorShapeProto *const *shapes = input->shapes ? input->shapes + i : NULL;
  Dataset *made = dataset_of_types(&kElements, sizeof *made, &input->types[i], shapes, 1, status);
  if (!made) return false;
  int64_t rows = (count - 1) / from->stride + 1;
  bool ok = rows <= INT32_MAX || status_invalid(status, "A window of %lld elements", (long long)rows);
  made->tensors = ok ? arena_calloc(made->arena, rows, sizeof *made->tensors) : NULL;
  if (ok && !made->tensors) ok = status_oom(status, "a dataset");
  for (int64_t row = 0; ok && row < rows; row++) {
    const Tensor *element = &window->rows.rows[row * from->stride * window->rows.width + i];
    ok = variant_check_depth(element, &made->depth, status) &&
         tensor_assign(&made->tensors[row], element, status);
    made->num_tensors += ok;
  }
  ok = ok && tensor_allocate_dims(out, DT_VARIANT, 0, NULL, context->pool, status);
  if (!ok) return dataset_drop(made);
  *(VariantObject **)out->data = &made->variant;
  return true;
}

/* --- windows --- */

/* Elements from the first to the last of a window. */
static int64_t extent(const WindowDataset *window) {
  int64_t extent;
  return __builtin_mul_overflow(window->size - 1, window->stride, &extent) || extent == INT64_MAX
             ? INT64_MAX
             : extent + 1;
}

static RunState skip_between(WindowIterator *window, KernelContext *context, Status *status) {
  RowsIterator *rows = &window->rows;
  while (window->to_skip > 0 && !rows->ended) {
    RunState state = rows_gather(rows, rows->iterator.input, 1, context, status);
    if (state != RUN_DONE) return state;
    rows_clear(rows);
    window->to_skip--;
  }
  return RUN_DONE;
}

static RunState window_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  WindowIterator *window = (WindowIterator *)iterator;
  const WindowDataset *dataset = (const WindowDataset *)iterator->dataset;
  RowsIterator *rows = &window->rows;
  int64_t wanted = extent(dataset);
  RunState state = skip_between(window, context, status);
  if (state == RUN_DONE) state = rows_gather(rows, iterator->input, wanted, context, status);
  if (state != RUN_DONE) return state;
  *end = rows->count == 0 || (dataset->drop_remainder && rows->count < wanted);
  if (*end) {
    rows_clear(rows);
    return RUN_DONE;
  }
  int64_t count = rows->count < wanted ? rows->count : wanted;
  for (int i = 0; i < rows->width; i++) {
    if (!window_of(window, i, count, context, &out[i], status)) return RUN_FAILED;
  }
  window->to_skip = dataset->shift > rows->count ? dataset->shift - rows->count : 0;
  rows_drop(rows, dataset->shift);
  return RUN_DONE;
}

static const DatasetKind kWindow = {.iterator_size = sizeof(WindowIterator),
                                    .begin = rows_begin,
                                    .next = window_next,
                                    .finish = rows_finish,
                                    .cardinality = cardinality_unknown};

/* --- kernels --- */

static bool read_positive(KernelContext *context, int input, const char *name, const char *title,
                          int64_t *value, Status *status) {
  TRY(dataset_int(context, input, name, value, status));
  return *value > 0 || status_invalid(status, "Window %s must be greater than zero.", title);
}

static bool window_dataset(KernelContext *context, Status *status) {
  const DatasetState *state = context->state;
  WindowDataset *made = dataset_new(context, &kWindow, sizeof *made, status);
  if (!made) return false;
  bool ok = dataset_add_input(context, 0, &made->dataset, status) &&
            read_positive(context, 1, "size", "size", &made->size, status) &&
            read_positive(context, 2, "shift", "shift", &made->shift, status) &&
            read_positive(context, 3, "stride", "stride", &made->stride, status) &&
            dataset_bool(context, 4, "drop_remainder", &made->drop_remainder, status) &&
            (made->dataset.inputs[0]->num_components == state->num_components ||
             status_invalid(status, "Number of components does not match: expected %d types but got %d.",
                            state->num_components, made->dataset.inputs[0]->num_components));
  return ok ? dataset_output(context, &made->dataset, status) : dataset_drop(&made->dataset);
}

const OpRegistration kOpWindowDataset = {
    .name = "WindowDataset",
    .inputs = {"input_dataset: variant", "size: int64", "shift: int64", "stride: int64",
               "drop_remainder: bool"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, window_dataset, &kDatasetAttrs}},
};
