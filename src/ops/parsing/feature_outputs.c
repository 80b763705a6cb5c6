#include "ops/parsing/feature_outputs.h"

#include "ops/parsing/feature.h"
#include "ops/support/elements.h"

static int64_t total_count(const FeatureTable *table, const FoundFeature *row, int64_t *most) {
  int64_t total = 0;
  *most = 0;
  for (int64_t e = 0; e < table->num_examples; e++) {
    total += row[e].count;
    if (row[e].count > *most) *most = row[e].count;
  }
  return total;
}

static bool copy_found(DataType dtype, const FoundFeature *found, Tensor *to, int64_t first, Status *status) {
  return found->count == 0 || feature_copy(dtype, found->bytes, to, first, status);
}

/* The values of all Examples one after another. */
static bool write_values(KernelContext *context, int output, const FeatureTable *table, int spec,
                         Status *status) {
  const FoundFeature *row = feature_table_row(table, spec);
  DataType dtype = table->group.specs[spec].dtype;
  int64_t most, total = total_count(table, row, &most), at = 0;
  Tensor *values;
  TRY(kernel_allocate_output_dims(context, output, 1, &total, &values, status));
  for (int64_t e = 0; e < table->num_examples; at += row[e++].count)
    TRY(copy_found(dtype, &row[e], values, at, status));
  return true;
}

/* --- sparse --- */

static bool write_sparse(KernelContext *context, const FeatureTable *table, int output, int spec,
                         Status *status) {
  const FoundFeature *row = feature_table_row(table, spec);
  int64_t most, total = total_count(table, row, &most), rank = table->is_batch ? 2 : 1;
  int apart = table->group.num_sparse;
  Tensor *indices, *shape;
  TRY(kernel_allocate_output_dims(context, output, 2, (int64_t[]){total, rank}, &indices, status));
  TRY(write_values(context, output + apart, table, spec, status));
  TRY(kernel_allocate_output_dims(context, output + 2 * apart, 1, &rank, &shape, status));
  int64_t *index = tensor_i64(indices);
  for (int64_t e = 0; e < table->num_examples; e++) {
    for (int64_t i = 0; i < row[e].count; i++) {
      if (table->is_batch) *index++ = e;
      *index++ = i;
    }
  }
  if (table->is_batch) tensor_i64(shape)[0] = table->num_examples;
  tensor_i64(shape)[rank - 1] = most;
  return true;
}

bool write_sparse_features(KernelContext *context, const FeatureTable *table, int output, Status *status) {
  for (int i = 0; i < table->group.num_sparse; i++) TRY(write_sparse(context, table, output + i, i, status));
  return true;
}

/* --- dense --- */

bool allocate_dense(KernelContext *context, int output, const FeatureTable *table, int64_t rows,
                    const TensorShapeProto *shape, size_t first, Tensor **out, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  if (table->is_batch) dims[rank++] = table->num_examples;
  if (rows >= 0) dims[rank++] = rows;
  if (shape->n_dim > (size_t)(SHAPE_MAX_RANK - 2))
    return status_invalid(status, "Shape must have rank at most %d, but has rank %zu", SHAPE_MAX_RANK - 2,
                          shape->n_dim);
  for (size_t d = first; d < shape->n_dim; d++) dims[rank++] = shape->dim[d]->size;
  return kernel_allocate_output_dims(context, output, rank, dims, out, status);
}

static bool write_fixed(KernelContext *context, const FeatureTable *table, int output, int spec,
                        Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  const FoundFeature *row = feature_table_row(table, spec);
  Tensor *out;
  TRY(allocate_dense(context, output, table, -1, wanted->shape, 0, &out, status));
  for (int64_t e = 0; e < table->num_examples; e++) {
    int64_t at = e * wanted->stride;
    TRY(row[e].present ? copy_found(wanted->dtype, &row[e], out, at, status)
                       : tensor_copy_elements(wanted->fallback, 0, out, at,
                                              tensor_num_elements(wanted->fallback), status));
  }
  return true;
}

static bool write_padded(KernelContext *context, const FeatureTable *table, int output, int spec,
                         Status *status) {
  const FeatureSpec *wanted = &table->group.specs[spec];
  const FoundFeature *row = feature_table_row(table, spec);
  int64_t most;
  Tensor *out;
  total_count(table, row, &most);
  int64_t rows = wanted->stride > 0 ? most / wanted->stride : 0;
  TRY(allocate_dense(context, output, table, rows, wanted->shape, 1, &out, status));
  for (int64_t e = 0; e < table->num_examples; e++) {
    TRY(copy_found(wanted->dtype, &row[e], out, e * most, status));
    for (int64_t i = row[e].count; i < most; i++)
      TRY(tensor_copy_elements(wanted->fallback, 0, out, e * most + i, 1, status));
  }
  return true;
}

bool write_dense_features(KernelContext *context, const FeatureTable *table, int output, Status *status) {
  for (int i = 0; i < table->group.num_dense; i++) {
    int spec = table->group.num_sparse + i;
    TRY(table->group.specs[spec].variable_length ? write_padded(context, table, output + i, spec, status)
                                                 : write_fixed(context, table, output + i, spec, status));
  }
  return true;
}

/* --- ragged --- */

void write_split(Tensor *splits, int64_t i, int64_t value) {
  if (splits->dtype == DT_INT32) tensor_i32(splits)[i] = (int32_t)value;
  else tensor_i64(splits)[i] = value;
}

static bool write_splits(KernelContext *context, const FeatureTable *table, int output, int spec,
                         int splits_rank, Status *status) {
  const FoundFeature *row = feature_table_row(table, spec);
  int64_t size = table->is_batch ? table->num_examples + 1 : 0, end = 0;
  Tensor *splits;
  TRY(kernel_allocate_output_dims(context, output, table->is_batch ? 1 : splits_rank, &size, &splits,
                                  status));
  if (tensor_num_elements(splits) > 0) write_split(splits, 0, 0);
  for (int64_t e = 0; e < size - 1; e++) write_split(splits, e + 1, end += row[e].count);
  return true;
}

bool write_ragged_features(KernelContext *context, const FeatureTable *table, int output, int splits_rank,
                           Status *status) {
  int count = table->group.num_ragged;
  for (int i = 0; i < count; i++) {
    int spec = table->group.num_sparse + table->group.num_dense + i;
    TRY(write_values(context, output + i, table, spec, status));
    TRY(write_splits(context, table, output + count + i, spec, splits_rank, status));
  }
  return true;
}
