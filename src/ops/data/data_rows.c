#include "ops/data/data_rows.h"

#include "base/alloc.h"

bool rows_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  RowsIterator *rows = (RowsIterator *)iterator;
  rows->width = iterator->dataset->inputs[0]->num_components;
  return data_begin_input(iterator, context, status);
}

void rows_finish(DataIterator *iterator) {
  RowsIterator *rows = (RowsIterator *)iterator;
  rows_clear(rows);
  mem_free(rows->rows);
}

Tensor *rows_next(RowsIterator *rows, Status *status) {
  int64_t used = rows->count * rows->width, wanted = used + rows->width;
  if (!mem_grow((void **)&rows->rows, &rows->capacity, wanted, sizeof *rows->rows)) {
    status_oom(status, "elements of a dataset");
    return NULL;
  }
  for (int i = 0; i < rows->width; i++) rows->rows[used + i] = (Tensor){0};
  return rows->rows + used;
}

RunState rows_gather(RowsIterator *rows, DataIterator *input, int64_t wanted, KernelContext *context,
                     Status *status) {
  while (!rows->ended && rows->count < wanted) {
    bool end = false;
    Tensor *element = rows_next(rows, status);
    RunState state = element ? data_next(input, context, element, &end, status) : RUN_FAILED;
    if (state == RUN_FAILED) rows_clear(rows);
    if (state != RUN_DONE) return state;
    rows->ended = end;
    rows->count += !end;
  }
  return RUN_DONE;
}

bool rows_stack_component(const RowsIterator *rows, int i, KernelContext *context, Tensor *out,
                          Status *status) {
  int64_t dims[SHAPE_MAX_RANK + 1];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  const Tensor *first = &rows->rows[i];
  dims[0] = rows->count;
  for (int d = 0; d < first->shape.rank; d++) dims[d + 1] = shape_dim(&first->shape, d);
  TRY(tensor_allocate_dims(out, first->dtype, first->shape.rank + 1, dims, context->pool, status));
  int64_t size = tensor_num_elements(first);
  for (int64_t row = 0; row < rows->count; row++) {
    const Tensor *element = &rows->rows[row * rows->width + i];
    if (element->dtype != first->dtype || !shape_equal(&element->shape, &first->shape)) {
      return status_invalid(status,
                            "Cannot batch tensors with different shapes in component %d. First element had "
                            "shape %s and element %lld had shape %s.",
                            i, shape_text(&first->shape, a), (long long)row, shape_text(&element->shape, b));
    }
    TRY(tensor_copy_elements(element, 0, out, row * size, size, status));
  }
  return true;
}

bool rows_stack(const RowsIterator *rows, KernelContext *context, Tensor *out, Status *status) {
  for (int i = 0; i < rows->width; i++) TRY(rows_stack_component(rows, i, context, &out[i], status));
  return true;
}

void rows_drop(RowsIterator *rows, int64_t count) {
  if (count > rows->count) count = rows->count;
  int64_t dropped = count * rows->width, left = (rows->count - count) * rows->width;
  data_tensors_clear(rows->rows, dropped);
  for (int64_t i = 0; i < left && dropped > 0; i++) tensor_move(&rows->rows[i], &rows->rows[dropped + i]);
  rows->count -= count;
}

void rows_clear(RowsIterator *rows) { rows_drop(rows, rows->count); }
