/* Datasets: descriptions of sequences of elements, as DT_VARIANT scalars. An element is a tuple of tensors,
 * its components. A dataset is immutable, and an iterator (ops/data/data_iterator.h) goes through it.
 *
 * A family of datasets defines a struct that begins with Dataset, a struct that begins with DataIterator, and
 * a DatasetKind:
 *
 *   typedef struct TakeDataset {
 *     Dataset dataset;
 *     int64_t count;
 *   } TakeDataset;
 *
 *   static bool take_dataset(KernelContext *context, Status *status) {
 *     TakeDataset *made = dataset_new(context, &kTake, sizeof *made, status);
 *     if (!made) return false;
 *     bool ok = dataset_add_input(context, 0, &made->dataset, status) &&
 *               dataset_int(context, 1, "count", &made->count, status);
 *     if (!ok) return dataset_drop(&made->dataset);
 *     dataset_take_types(&made->dataset);
 *     return dataset_output(context, &made->dataset, status);
 *   }
 */
#ifndef TFCORE_OPS_DATA_DATASET_H_
#define TFCORE_OPS_DATA_DATASET_H_

#include "op/op_registry.h"
#include "ops/support/variant.h"

typedef struct Dataset Dataset;
typedef struct DataIterator DataIterator;

/* Numbers of elements that are not known, or have no end. */
enum { CARDINALITY_INFINITE = -1, CARDINALITY_UNKNOWN = -2 };

typedef struct DatasetKind {
  int64_t iterator_size; /* of the struct that begins with DataIterator; it is zeroed */
  /* Prepares an iterator; may be NULL. */
  bool (*begin)(DataIterator *iterator, KernelContext *context, Status *status);
  /* Sets `out`, one empty tensor per component, or *end. When it waits for a function or for an input, it
   * returns RUN_WAITING, sets nothing, and is called again. Tensors that were set before an error are
   * cleared by the caller. */
  RunState (*next)(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end, Status *status);
  /* Frees what the iterator has beyond its base; may be NULL. */
  void (*finish)(DataIterator *iterator);
  int64_t (*cardinality)(const Dataset *dataset);
  /* Frees what the dataset has beyond its base; may be NULL. */
  void (*destroy)(Dataset *dataset);
} DatasetKind;

/* A function of a dataset: its arguments are components of an element, followed by captured tensors. */
typedef struct DataFunction {
  CalledFunction function;
  const FunctionCaller *caller;
  Tensor *captured;
  int num_captured;
} DataFunction;

struct Dataset {
  VariantObject variant;
  const DatasetKind *kind;
  Arena *arena; /* for arrays that live as long as the dataset */
  int num_components;
  const DataType *types;                 /* of the components */
  const TensorShapeProto *const *shapes; /* of the components; NULL: unknown, as is a NULL element */
  int num_inputs;
  Dataset **inputs;
  int num_tensors;
  Tensor *tensors; /* tensors of the dataset and captured ones */
  int depth;       /* above that of every input and tensor */
};

/* The state of kernels that make datasets. */
typedef struct DatasetState {
  const DataType *types; /* attr output_types or Toutput_types */
  const TensorShapeProto *const *shapes;
  int num_components;
  CalledFunction functions[3]; /* those of the attrs that the kernel's data names */
} DatasetState;

/* The data of kernels: what the constructor reads from attrs. The types and shapes are those of the output
 * for datasets without the attrs, a single vector or scalar of strings. */
typedef struct DatasetAttrs {
  const char *types;        /* "output_types"; NULL: a string */
  const char *functions[3]; /* attrs of functions, ended by NULL */
  const void *variant;      /* for kernels that several ops share */
} DatasetAttrs;

bool dataset_construct(const KernelConstruction *construction, void *state, Status *status);
#define DATASET_STATE .state_size = sizeof(DatasetState), .construct = dataset_construct
/* Types and shapes in the specs of most datasets. */
#define DATASET_TYPES "output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"
#define DATASET_METADATA "metadata: string = ''"
#define DATASET_OUTPUT \
  .outputs = {"handle: variant"}, .shape = shape_scalar_output, .gradient = NO_GRADIENT, DATASET_STATE
extern const DatasetAttrs kDatasetAttrs; /* output_types, no functions */

/* --- making datasets in kernels --- */

/* A new dataset of `size` bytes with one reference, with the types and shapes of the kernel's state. NULL
 * with status when out of memory. */
void *dataset_new(KernelContext *context, const DatasetKind *kind, size_t size, Status *status);
/* The same with these types and shapes, which are copied; `shapes` may be NULL. */
void *dataset_of_types(const DatasetKind *kind, size_t size, const DataType *types,
                       const TensorShapeProto *const *shapes, int num_components, Status *status);
/* The dataset in an input, borrowed. INVALID_ARGUMENT unless it is a scalar with a dataset. */
MUST_CHECK bool dataset_of_input(const KernelContext *context, int input, Dataset **dataset, Status *status);
MUST_CHECK bool dataset_of_tensor(const Tensor *tensor, Dataset **dataset, Status *status);
/* Adds the dataset in an input to the new dataset's inputs. */
MUST_CHECK bool dataset_add_input(const KernelContext *context, int input, Dataset *made, Status *status);
/* Adds `input`; takes over the reference on success. */
MUST_CHECK bool dataset_adopt_input(Dataset *made, Dataset *input, Status *status);
/* Makes inputs [first, first + count) tensors of the dataset. At most one call per dataset. */
MUST_CHECK bool dataset_add_tensors(const KernelContext *context, int first, int count, Dataset *made,
                                    Status *status);
/* Function `i` of the kernel's state; it captures the tensors of the dataset from `first` on. Calls check the
 * arguments. */
DataFunction dataset_function(const KernelContext *context, int i, const Dataset *made, int first);
/* The components have the types of the first input's. Required where elements of the input are passed on:
 * graphs may declare other types. */
void dataset_take_types(Dataset *made);
/* Output 0 is the dataset; takes over the reference, on failure too. */
MUST_CHECK bool dataset_output(KernelContext *context, Dataset *made, Status *status);
/* Drops a dataset that could not be finished; NULL is fine. Returns false. */
bool dataset_drop(Dataset *made);
/* A scalar input; INVALID_ARGUMENT "count must be a scalar". */
MUST_CHECK bool dataset_int(const KernelContext *context, int input, const char *name, int64_t *value,
                            Status *status);
MUST_CHECK bool dataset_bool(const KernelContext *context, int input, const char *name, bool *value,
                             Status *status);
int64_t dataset_cardinality(const Dataset *dataset);
/* The cardinality of the first input. */
int64_t cardinality_of_input(const Dataset *dataset);
int64_t cardinality_unknown(const Dataset *dataset);

/* INVALID_ARGUMENT, in TensorFlow's words, unless the types are equal and the shapes are compatible. */
MUST_CHECK bool dataset_check_types(const DataType *want, const TensorShapeProto *const *want_shapes,
                                    int num_want, const DataType *have,
                                    const TensorShapeProto *const *have_shapes, int num_have, Status *status);

#endif
