#include "ops/parsing/list_outputs.h"

#include "ops/parsing/feature.h"
#include "ops/parsing/feature_outputs.h"
#include "ops/parsing/sequence_parser.h"
#include "ops/support/array_box.h"

/* The features of a list one after another. */
typedef struct Steps {
  DataType dtype;
  Str rest, values;
  int64_t count;
} Steps;

static Steps steps_of(const FeatureTable *table, int spec, int64_t example) {
  return (Steps){.dtype = table->group.specs[spec].dtype,
                 .rest = feature_table_row(table, spec)[example].bytes};
}

static bool next_step(Steps *steps) {
  bool is_feature;
  return steps->rest.length > 0 &&
         feature_list_take(&steps->rest, steps->dtype, &steps->values, &steps->count, &is_feature);
}

/* Copies the values of a list to element `first` on. */
static bool copy_steps(Steps steps, Tensor *to, int64_t first, Status *status) {
  for (; next_step(&steps); first += steps.count)
    TRY(steps.count == 0 || feature_copy(steps.dtype, steps.values, to, first, status));
  return true;
}

typedef struct Sizes {
  int64_t values, rows;           /* of all Examples */
  int64_t most_values, most_rows; /* of one */
} Sizes;

static Sizes sizes_of(const FeatureTable *table, int spec) {
  const FoundFeature *row = feature_table_row(table, spec);
  Sizes sizes = {0};
  for (int64_t e = 0; e < table->num_examples; e++) {
    sizes.values += row[e].count;
    sizes.rows += row[e].rows;
    if (row[e].count > sizes.most_values) sizes.most_values = row[e].count;
    if (row[e].rows > sizes.most_rows) sizes.most_rows = row[e].rows;
  }
  return sizes;
}

static bool write_values(KernelContext *context, const FeatureTable *table, int output, int spec,
                         Status *status) {
  const FoundFeature *row = feature_table_row(table, spec);
  int64_t total = sizes_of(table, spec).values, at = 0;
  Tensor *values;
  TRY(kernel_allocate_output_dims(context, output, 1, &total, &values, status));
  for (int64_t e = 0; e < table->num_examples; at += row[e++].count)
    TRY(copy_steps(steps_of(table, spec, e), values, at, status));
  return true;
}

/* --- sparse --- */

static int64_t *write_indices(const FeatureTable *table, int spec, int64_t example, int64_t *index,
                              int64_t *most) {
  Steps steps = steps_of(table, spec, example);
  for (int64_t step = 0; next_step(&steps); step++) {
    if (steps.count > *most) *most = steps.count;
    for (int64_t i = 0; i < steps.count; i++) {
      if (table->is_batch) *index++ = example;
      *index++ = step;
      *index++ = i;
    }
  }
  return index;
}

static bool write_sparse(KernelContext *context, const FeatureTable *table, int output, int spec,
                         Status *status) {
  Sizes sizes = sizes_of(table, spec);
  int64_t rank = table->is_batch ? 3 : 2, most = 0;
  int apart = table->group.num_sparse;
  Tensor *indices, *shape;
  TRY(kernel_allocate_output_dims(context, output, 2, (int64_t[]){sizes.values, rank}, &indices, status));
  TRY(write_values(context, table, output + apart, spec, status));
  TRY(kernel_allocate_output_dims(context, output + 2 * apart, 1, &rank, &shape, status));
  int64_t *index = tensor_i64(indices);
  for (int64_t e = 0; e < table->num_examples; e++) index = write_indices(table, spec, e, index, &most);
  if (table->is_batch) tensor_i64(shape)[0] = table->num_examples;
  tensor_i64(shape)[rank - 2] = sizes.most_rows;
  tensor_i64(shape)[rank - 1] = most;
  return true;
}

bool write_sparse_lists(KernelContext *context, const FeatureTable *table, int output, Status *status) {
  for (int i = 0; i < table->group.num_sparse; i++) TRY(write_sparse(context, table, output + i, i, status));
  return true;
}

/* --- dense --- */

static bool write_lengths(KernelContext *context, const FeatureTable *table, int output, int spec,
                          Status *status) {
  const FoundFeature *row = feature_table_row(table, spec);
  Tensor *lengths;
  TRY(kernel_allocate_output_dims(context, output, table->is_batch, &table->num_examples, &lengths, status));
  for (int64_t e = 0; e < table->num_examples; e++) tensor_i64(lengths)[e] = row[e].rows;
  return true;
}

static bool write_dense(KernelContext *context, const FeatureTable *table, int output, int spec,
                        Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  Sizes sizes = sizes_of(table, spec);
  Tensor *out;
  TRY(allocate_dense(context, output, table, sizes.most_rows, wanted->shape, 0, &out, status));
  array_clear(out);
  for (int64_t e = 0; e < table->num_examples; e++)
    TRY(copy_steps(steps_of(table, spec, e), out, e * sizes.most_values, status));
  return true;
}

bool write_dense_lists(KernelContext *context, const FeatureTable *table, int output, int lengths,
                       Status *status) {
  for (int i = 0; i < table->group.num_dense; i++) {
    int spec = table->group.num_sparse + i;
    TRY(write_dense(context, table, output + i, spec, status));
    TRY(lengths < 0 || write_lengths(context, table, lengths + i, spec, status));
  }
  return true;
}

/* --- ragged --- */

static bool write_outer(KernelContext *context, const FeatureTable *table, int output, int spec,
                        Status *status) {
  const FoundFeature *row = feature_table_row(table, spec);
  int64_t size = table->num_examples + 1, end = 0;
  Tensor *splits;
  TRY(kernel_allocate_output_dims(context, output, table->is_batch, &size, &splits, status));
  write_split(splits, 0, 0);
  for (int64_t e = 0; table->is_batch && e < table->num_examples; e++)
    write_split(splits, e + 1, end += row[e].rows);
  return true;
}

static bool write_inner(KernelContext *context, const FeatureTable *table, int output, int spec,
                        Status *status) {
  int64_t size = sizes_of(table, spec).rows + 1, end = 0, at = 0;
  Tensor *splits;
  TRY(kernel_allocate_output_dims(context, output, 1, &size, &splits, status));
  write_split(splits, at++, 0);
  for (int64_t e = 0; e < table->num_examples; e++) {
    for (Steps steps = steps_of(table, spec, e); next_step(&steps);)
      write_split(splits, at++, end += steps.count);
  }
  return true;
}

bool write_ragged_lists(KernelContext *context, const FeatureTable *table, int output, Status *status) {
  int count = table->group.num_ragged;
  for (int i = 0; i < count; i++) {
    int spec = table->group.num_sparse + table->group.num_dense + i;
    TRY(write_values(context, table, output + i, spec, status));
    TRY(write_outer(context, table, output + count + i, spec, status));
    TRY(write_inner(context, table, output + 2 * count + i, spec, status));
  }
  return true;
}
