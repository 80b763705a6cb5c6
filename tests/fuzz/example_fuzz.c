/* Examples and SequenceExamples: parsed as a batch and alone, with every kind of feature, and written to
 * outputs. The first byte selects the message; the rest are two of them, separated by 0xFF 0xFE. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "ops/parsing/example_parser.h"
#include "ops/parsing/feature_outputs.h"
#include "ops/parsing/list_outputs.h"
#include "ops/parsing/sequence_parser.h"

enum { NUM_SPARSE = 2, NUM_DENSE = 4, NUM_RAGGED = 2, NUM_SPECS = NUM_SPARSE + NUM_DENSE + NUM_RAGGED };
/* Indices, values, shapes; values, lengths; values, outer and inner splits. */
enum { MOST_OUTPUTS = 3 * NUM_SPARSE + 2 * NUM_DENSE + 3 * NUM_RAGGED };

/* Shapes [2], [?,2], [] and [?]. */
typedef struct Shapes {
  TensorShapeDim dims[4];
  TensorShapeDim *pointers[4][2];
  TensorShapeProto protos[4];
} Shapes;

static void make_shapes(Shapes *shapes) {
  static const int64_t sizes[2] = {2, -1};
  static const int of[4][2] = {{0, -1}, {1, 0}, {-1, -1}, {1, -1}};
  for (int i = 0; i < 2; i++) {
    shapes->dims[i] = (TensorShapeDim)TENSORFLOW__TENSOR_SHAPE_PROTO__DIM__INIT;
    shapes->dims[i].size = sizes[i];
  }
  for (int i = 0; i < 4; i++) {
    shapes->protos[i] = (TensorShapeProto)TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
    shapes->protos[i].dim = shapes->pointers[i];
    for (int d = 0; d < 2 && of[i][d] >= 0; d++)
      shapes->pointers[i][shapes->protos[i].n_dim++] = &shapes->dims[of[i][d]];
  }
}

/* Keys a, b, ...; `lists`: for feature lists, whose shapes are known. */
static void make_specs(FeatureSpec specs[NUM_SPECS], const Shapes *shapes, const Tensor *fallbacks,
                       bool lists) {
  static const char keys[] = "abcdefgh";
  static const DataType types[NUM_SPECS] = {DT_INT64,  DT_STRING, DT_FLOAT,  DT_INT64,
                                            DT_STRING, DT_FLOAT,  DT_STRING, DT_INT64};
  memset(specs, 0, NUM_SPECS * sizeof *specs);
  for (int i = 0; i < NUM_SPECS; i++) {
    specs[i].key = (Str){keys + i, 1};
    specs[i].dtype = types[i];
    specs[i].splits_dtype = i % 2 ? DT_INT32 : DT_INT64;
  }
  for (int i = 0; i < NUM_DENSE; i++) {
    FeatureSpec *spec = &specs[NUM_SPARSE + i];
    int shape = lists ? i & 2 : i; /* [2], [2], [], [] or all of them */
    spec->shape = &shapes->protos[shape];
    spec->variable_length = shape & 1;
    spec->stride = shape < 2 ? 2 : 1;
    spec->fallback = &fallbacks[i];
    spec->may_be_missing = true;
  }
}

/* One value of each dense feature's dtype where rows are padded, two for [2], one for []. */
static bool make_fallbacks(Tensor fallbacks[NUM_DENSE], Status *status) {
  static const DataType types[NUM_DENSE] = {DT_FLOAT, DT_INT64, DT_STRING, DT_FLOAT};
  static const int64_t two = 2, one = 1;
  for (int i = 0; i < NUM_DENSE; i++) {
    TRY(tensor_allocate_dims(&fallbacks[i], types[i], i == 2 ? 0 : 1, i == 0 ? &two : &one, NULL, status));
    if (types[i] != DT_STRING) memset(fallbacks[i].data, 0, (size_t)tensor_bytes(&fallbacks[i]));
  }
  return true;
}

/* --- outputs --- */

typedef struct Outputs {
  Tensor tensors[MOST_OUTPUTS];
  DataType types[MOST_OUTPUTS];
  KernelContext context;
} Outputs;

static void begin_outputs(Outputs *outputs, const FeatureTable *table, bool lists) {
  const FeatureSpec *specs = table->group.specs;
  int at = 0;
  memset(outputs, 0, sizeof *outputs);
  for (int kind = 0; kind < 3; kind++)
    for (int i = 0; i < NUM_SPARSE; i++) outputs->types[at++] = kind == 1 ? specs[i].dtype : DT_INT64;
  for (int i = 0; i < NUM_DENSE; i++) outputs->types[at++] = specs[NUM_SPARSE + i].dtype;
  for (int i = 0; lists && i < NUM_DENSE; i++) outputs->types[at++] = DT_INT64;
  for (int kind = 0; kind < 3; kind++)
    for (int i = NUM_SPARSE + NUM_DENSE; i < NUM_SPECS; i++)
      outputs->types[at++] = kind == 0 ? specs[i].dtype : specs[i].splits_dtype;
  outputs->context = (KernelContext){.outputs = outputs->tensors,
                                     .output_types = outputs->types,
                                     .num_outputs = MOST_OUTPUTS};
}

static void end_outputs(Outputs *outputs) {
  for (int i = 0; i < MOST_OUTPUTS; i++) tensor_clear(&outputs->tensors[i]);
}

static bool write_features(const FeatureTable *table, Status *status) {
  Outputs outputs;
  begin_outputs(&outputs, table, false);
  bool ok = write_sparse_features(&outputs.context, table, 0, status) &&
            write_dense_features(&outputs.context, table, 3 * NUM_SPARSE, status) &&
            write_ragged_features(&outputs.context, table, 3 * NUM_SPARSE + NUM_DENSE, 1, status);
  for (int i = 0; ok && i < NUM_SPARSE; i++)
    FUZZ_CHECK(shape_dim(&outputs.tensors[i].shape, 0) ==
                   tensor_num_elements(&outputs.tensors[NUM_SPARSE + i]),
               "a sparse tensor has another number of indices than of values");
  end_outputs(&outputs);
  return ok;
}

static bool write_lists(const FeatureTable *table, Status *status) {
  Outputs outputs;
  begin_outputs(&outputs, table, true);
  int dense = 3 * NUM_SPARSE;
  bool ok = write_sparse_lists(&outputs.context, table, 0, status) &&
            write_dense_lists(&outputs.context, table, dense, dense + NUM_DENSE, status) &&
            write_ragged_lists(&outputs.context, table, dense + 2 * NUM_DENSE, status);
  end_outputs(&outputs);
  return ok;
}

/* --- parsing --- */

static bool begin_table(FeatureTable *table, FeatureSpec *specs, const Tensor *serialized, Status *status) {
  const FeatureSpecs group = {specs, NUM_SPARSE, NUM_DENSE, NUM_RAGGED};
  return feature_table_init(table, &group, serialized, status) && feature_table_index(table, status);
}

static bool parse_examples(const Shapes *shapes, const Tensor *fallbacks, const Tensor *serialized,
                           const Tensor *names, Status *status) {
  FeatureSpec specs[NUM_SPECS];
  FeatureTable table;
  make_specs(specs, shapes, fallbacks, false);
  bool ok = begin_table(&table, specs, serialized, status) &&
            examples_parse(&table, serialized, names, status) && write_features(&table, status);
  feature_table_free(&table);
  return ok;
}

/* The dense features of the context have known shapes too. */
static bool parse_sequences(const Shapes *shapes, const Tensor *fallbacks, const Tensor *serialized,
                            const Tensor *names, Status *status) {
  FeatureSpec specs[NUM_SPECS], lists[NUM_SPECS];
  FeatureTable context = {0}, steps = {0};
  make_specs(specs, shapes, fallbacks, true);
  make_specs(lists, shapes, fallbacks, true);
  for (int i = 0; i < NUM_DENSE; i++) specs[NUM_SPARSE + i].key = (Str){"no", 2};
  specs[NUM_SPARSE + 1].stride = 1;
  specs[NUM_SPARSE + 1].shape = &shapes->protos[2];
  bool ok = begin_table(&context, specs, serialized, status) &&
            begin_table(&steps, lists, serialized, status) &&
            sequences_parse(&context, &steps, serialized, names, status) &&
            write_features(&context, status) && write_lists(&steps, status);
  feature_table_free(&context);
  feature_table_free(&steps);
  return ok;
}

/* The rest of the input: one string, or two in a vector. */
static bool make_serialized(Str rest, bool is_batch, Tensor *serialized, Status *status) {
  const char *middle = NULL;
  for (const char *p = rest.data; is_batch && !middle && p + 1 < rest.data + rest.length; p++)
    if ((unsigned char)p[0] == 0xFF && (unsigned char)p[1] == 0xFE) middle = p;
  int64_t count = 1 + !!middle;
  TRY(tensor_allocate_dims(serialized, DT_STRING, is_batch, &count, NULL, status));
  size_t first = middle ? (size_t)(middle - rest.data) : rest.length;
  TRY(tstring_set(&tensor_strings(serialized)[0], rest.data, first, status));
  return !middle || tstring_set(&tensor_strings(serialized)[1], middle + 2, rest.length - first - 2, status);
}

static void run(const uint8_t *bytes, size_t size) {
  FuzzReader reader = {bytes, bytes + size};
  int flags = fuzz_byte(&reader);
  Str rest = fuzz_bytes(&reader, size);
  Tensor serialized = {0}, names = {0}, fallbacks[NUM_DENSE] = {0};
  Shapes shapes;
  Status status;
  static const int64_t none = 0;
  status_init(&status);
  make_shapes(&shapes);
  bool ok = make_serialized(rest, flags & 1, &serialized, &status) &&
            tensor_allocate_dims(&names, DT_STRING, 1, &none, NULL, &status) &&
            make_fallbacks(fallbacks, &status);
  ok = ok && (flags & 2 ? parse_sequences(&shapes, fallbacks, &serialized, &names, &status)
                        : parse_examples(&shapes, fallbacks, &serialized, &names, &status));
  if (!ok) fuzz_check_code(status.code, status.message);
  for (int i = 0; i < NUM_DENSE; i++) tensor_clear(&fallbacks[i]);
  tensor_clear(&names);
  tensor_clear(&serialized);
}

const FuzzTarget k_example_fuzz = {"example", run, NULL};
