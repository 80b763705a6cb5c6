/* Kernels that read a dataset with an iterator of their own. */
#ifndef TFCORE_OPS_DATA_DATASET_READ_H_
#define TFCORE_OPS_DATA_DATASET_READ_H_

#include "ops/data/dataset.h"

typedef enum DatasetRead {
  READ_FIRST,
  READ_ONLY /* INVALID_ARGUMENT when there are more elements */
} DatasetRead;

/* A whole kernel: the outputs are the first element of the dataset that `make` gives (one reference, or NULL
 * with status). INVALID_ARGUMENT "Dataset was empty." */
MUST_CHECK bool dataset_read_one(KernelContext *context, Dataset *(*make)(KernelContext *, Status *),
                                 DatasetRead which, Status *status);

#endif
