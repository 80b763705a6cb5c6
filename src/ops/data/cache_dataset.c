/* CacheDataset in memory: the first iterator that goes through the whole input keeps its elements; iterators
 * that begin later get these. */
#include "base/alloc.h"
#include "base/sync.h"
#include "ops/data/data_rows.h"

typedef struct CacheDataset {
  Dataset dataset;
  Mutex mutex;
  bool has_mutex;
  bool complete; /* `elements` are those of the input; they do not change any more */
  Tensor *elements;
  int64_t count;
} CacheDataset;

typedef struct CacheIterator {
  RowsIterator rows; /* what it has given so far; unused when it reads the cache */
  int64_t at;
  bool reads;
} CacheIterator;

static bool is_complete(CacheDataset *cache) {
  mutex_lock(&cache->mutex);
  bool complete = cache->complete;
  mutex_unlock(&cache->mutex);
  return complete;
}

/* Gives the elements of the iterator to the dataset, unless another one was faster. */
static void give(CacheDataset *cache, RowsIterator *rows) {
  mutex_lock(&cache->mutex);
  if (!cache->complete) {
    cache->elements = rows->rows;
    cache->count = rows->count;
    cache->complete = true;
    rows->rows = NULL;
    rows->count = rows->capacity = 0;
  }
  mutex_unlock(&cache->mutex);
}

static bool cache_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  CacheIterator *reader = (CacheIterator *)iterator;
  reader->reads = is_complete((CacheDataset *)iterator->dataset);
  reader->rows.width = iterator->dataset->num_components;
  return reader->reads || data_begin_input(iterator, context, status);
}

static RunState read_cached(CacheIterator *reader, const CacheDataset *cache, Tensor *out, bool *end,
                            Status *status) {
  int width = cache->dataset.num_components;
  *end = reader->at == cache->count;
  if (*end) return RUN_DONE;
  return data_tensors_share(out, cache->elements + reader->at++ * width, width, status) ? RUN_DONE
                                                                                        : RUN_FAILED;
}

static RunState cache_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                           Status *status) {
  CacheIterator *reader = (CacheIterator *)iterator;
  CacheDataset *cache = (CacheDataset *)iterator->dataset;
  RowsIterator *rows = &reader->rows;
  if (reader->reads) return read_cached(reader, cache, out, end, status);
  *end = rows->ended;
  if (*end) return RUN_DONE;
  Tensor *element = rows_next(rows, status);
  RunState state = element ? data_next(iterator->input, context, element, end, status) : RUN_FAILED;
  if (state != RUN_DONE) return state;
  if (*end) {
    rows->ended = true;
    give(cache, rows);
    return RUN_DONE;
  }
  rows->count++;
  return data_tensors_share(out, element, rows->width, status) ? RUN_DONE : RUN_FAILED;
}

static void cache_destroy(Dataset *dataset) {
  CacheDataset *cache = (CacheDataset *)dataset;
  data_tensors_free(cache->elements, cache->count * dataset->num_components);
  if (cache->has_mutex) mutex_destroy(&cache->mutex);
}

static const DatasetKind kCache = {.iterator_size = sizeof(CacheIterator),
                                   .begin = cache_begin,
                                   .next = cache_next,
                                   .finish = rows_finish,
                                   .cardinality = cardinality_of_input,
                                   .destroy = cache_destroy};

static bool check_file(const KernelContext *context, Status *status) {
  const Tensor *file = context->inputs[1];
  if (!tensor_is_scalar(file)) return status_invalid(status, "filename must be a scalar");
  return tstring_view(tensor_strings(file)).length == 0 ||
         status_set(status, CODE_UNIMPLEMENTED, "Datasets are cached in memory only, not in files");
}

static bool cache_dataset(KernelContext *context, Status *status) {
  TRY(check_file(context, status));
  CacheDataset *made = dataset_new(context, &kCache, sizeof *made, status);
  if (!made) return false;
  made->has_mutex = mutex_init(&made->mutex);
  bool ok = made->has_mutex ? dataset_add_input(context, 0, &made->dataset, status)
                            : status_oom(status, "a dataset");
  if (!ok) return dataset_drop(&made->dataset);
  dataset_take_types(&made->dataset);
  return dataset_output(context, &made->dataset, status);
}

const OpRegistration kOpCacheDataset = {
    .name = "CacheDataset",
    .inputs = {"input_dataset: variant", "filename: string"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, cache_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpCacheDatasetV2 = {
    .name = "CacheDatasetV2",
    .inputs = {"input_dataset: variant", "filename: string", "cache: resource"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    .is_stateful = true,
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, cache_dataset, &kDatasetAttrs}},
};
