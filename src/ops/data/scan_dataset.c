/* ScanDataset: a function of a state and an element gives the next state and an element. ReduceDataset gives
 * the last state. */
#include "op/node_def.h"
#include "ops/data/data_iterator.h"
#include "ops/data/dataset_read.h"

/* The tensors are the first state, then the captured ones. */
typedef struct ScanDataset {
  Dataset dataset;
  DataFunction function;
  int num_states;
} ScanDataset;

typedef struct ScanIterator {
  DataIterator iterator;
  Tensor *args; /* the state, then an element of the input */
  Tensor *rets; /* the next state, then an element */
  bool taken;   /* the element is set */
} ScanIterator;

static int num_args(const ScanDataset *scan) {
  return scan->num_states + scan->dataset.inputs[0]->num_components;
}
static int num_rets(const ScanDataset *scan) { return scan->num_states + scan->dataset.num_components; }

static bool scan_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  ScanIterator *scan = (ScanIterator *)iterator;
  const ScanDataset *dataset = (const ScanDataset *)iterator->dataset;
  scan->args = data_tensors_new(num_args(dataset), status);
  scan->rets = data_tensors_new(num_rets(dataset), status);
  return scan->args && scan->rets &&
         data_tensors_share(scan->args, dataset->dataset.tensors, dataset->num_states, status) &&
         data_begin_input(iterator, context, status);
}

static void scan_finish(DataIterator *iterator) {
  ScanIterator *scan = (ScanIterator *)iterator;
  const ScanDataset *dataset = (const ScanDataset *)iterator->dataset;
  data_tensors_free(scan->args, num_args(dataset));
  data_tensors_free(scan->rets, num_rets(dataset));
}

static RunState scan_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                          Status *status) {
  ScanIterator *scan = (ScanIterator *)iterator;
  const ScanDataset *dataset = (const ScanDataset *)iterator->dataset;
  if (!scan->taken) {
    RunState state = data_next(iterator->input, context, scan->args + dataset->num_states, end, status);
    if (state != RUN_DONE || *end) return state;
    scan->taken = true;
  }
  RunState state = data_call(iterator, context, &dataset->function, scan->args, num_args(dataset), scan->rets,
                             num_rets(dataset), status);
  if (state == RUN_WAITING) return state;
  scan->taken = false;
  if (state == RUN_FAILED) return state;
  for (int i = 0; i < dataset->num_states; i++) tensor_move(&scan->args[i], &scan->rets[i]);
  for (int i = 0; i < dataset->dataset.num_components; i++)
    tensor_move(&out[i], &scan->rets[dataset->num_states + i]);
  return RUN_DONE;
}

static const DatasetKind kScan = {.iterator_size = sizeof(ScanIterator),
                                  .begin = scan_begin,
                                  .next = scan_next,
                                  .finish = scan_finish,
                                  .cardinality = cardinality_of_input};

/* --- kernels --- */

typedef struct ScanState {
  DatasetState base;
  int num_states;
} ScanState;

static bool scan_construct(const KernelConstruction *construction, void *memory, Status *status) {
  const AttrListValue *types;
  TRY(node_attr_list(construction->node, "Tstate", ATTR_TYPE, &types, status));
  ((ScanState *)memory)->num_states = (int)types->n_type;
  return dataset_construct(construction, memory, status);
}

static ScanDataset *new_scan(KernelContext *context, const DatasetKind *kind, Status *status) {
  const ScanState *state = context->state;
  ScanDataset *made = dataset_new(context, kind, sizeof *made, status);
  if (!made) return NULL;
  made->num_states = state->num_states;
  if (!dataset_add_input(context, 0, &made->dataset, status) ||
      !dataset_add_tensors(context, 1, context->num_inputs - 1, &made->dataset, status)) {
    dataset_drop(&made->dataset);
    return NULL;
  }
  made->function = dataset_function(context, 0, &made->dataset, made->num_states);
  return made;
}

static bool scan_dataset(KernelContext *context, Status *status) {
  ScanDataset *made = new_scan(context, &kScan, status);
  return made && dataset_output(context, &made->dataset, status);
}

static const DatasetAttrs kAttrs = {.types = "output_types", .functions = {"f"}};

#define SCAN_INPUTS "input_dataset: variant", "initial_state: Tstate", "other_arguments: Targuments"
#define SCAN_TYPES "f: func", "Tstate: list(type) >= 1", "Targuments: list(type) >= 0", DATASET_TYPES
#define SCAN_STATE .gradient = NO_GRADIENT, .state_size = sizeof(ScanState), .construct = scan_construct

const OpRegistration kOpScanDataset = {
    .name = "ScanDataset",
    .inputs = {SCAN_INPUTS},
    .outputs = {"handle: variant"},
    .attrs = {SCAN_TYPES, "preserve_cardinality: bool = false", "use_default_device: bool = true",
              DATASET_METADATA},
    .shape = shape_scalar_output,
    SCAN_STATE,
    .kernels = {{DT_INVALID, scan_dataset, &kAttrs}},
};

const OpRegistration kOpExperimentalScanDataset = {
    .name = "ExperimentalScanDataset",
    .inputs = {SCAN_INPUTS},
    .outputs = {"handle: variant"},
    .attrs = {SCAN_TYPES, "preserve_cardinality: bool = false"},
    .shape = shape_scalar_output,
    SCAN_STATE,
    .kernels = {{DT_INVALID, scan_dataset, &kAttrs}},
};

/* --- ReduceDataset: its iterator gives one element, the last state --- */

static RunState reduce_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  ScanIterator *scan = (ScanIterator *)iterator;
  const ScanDataset *dataset = (const ScanDataset *)iterator->dataset;
  int states = dataset->num_states;
  for (;;) {
    bool input_end = false;
    if (!scan->taken) {
      RunState state = data_next(iterator->input, context, scan->args + states, &input_end, status);
      if (state != RUN_DONE) return state;
      if (input_end) break;
      scan->taken = true;
    }
    RunState state = data_call(iterator, context, &dataset->function, scan->args, num_args(dataset),
                               scan->rets, states, status);
    if (state == RUN_WAITING) return state;
    scan->taken = false;
    if (state == RUN_FAILED) return state;
    for (int i = 0; i < states; i++) tensor_move(&scan->args[i], &scan->rets[i]);
  }
  *end = false;
  for (int i = 0; i < states; i++) tensor_move(&out[i], &scan->args[i]);
  return RUN_DONE;
}

static const DatasetKind kReduce = {.iterator_size = sizeof(ScanIterator),
                                    .begin = scan_begin,
                                    .next = reduce_next,
                                    .finish = scan_finish,
                                    .cardinality = cardinality_unknown};

static Dataset *reduced(KernelContext *context, Status *status) {
  ScanDataset *made = new_scan(context, &kReduce, status);
  if (!made) return NULL;
  if (made->num_states == context->num_outputs) return &made->dataset;
  status_invalid(status, "The number of states (%d) must be that of the outputs (%d)", made->num_states,
                 context->num_outputs);
  dataset_drop(&made->dataset);
  return NULL;
}

static bool reduce_dataset(KernelContext *context, Status *status) {
  return dataset_read_one(context, reduced, READ_FIRST, status);
}

const OpRegistration kOpReduceDataset = {
    .name = "ReduceDataset",
    .inputs = {SCAN_INPUTS},
    .outputs = {"components: output_types"},
    .attrs = {SCAN_TYPES, "use_inter_op_parallelism: bool = true", DATASET_METADATA},
    .is_stateful = true,
    .shape = shape_listed,
    SCAN_STATE,
    .kernels = {{DT_INVALID, reduce_dataset, &kAttrs}},
};
