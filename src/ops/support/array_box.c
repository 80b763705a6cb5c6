#include "ops/support/array_box.h"

#include <string.h>

#include "base/copy.h"
#include "base/odometer.h"

void array_box_add(ArrayBox *box, int64_t size, int64_t from_stride, int64_t to_stride) {
  if (size == 0) box->empty = true;
  if (size == 1 || box->empty) return;
  if (box->rank > 0) {
    int last = box->rank - 1;
    int64_t from, to;
    if (!__builtin_mul_overflow(from_stride, size, &from) && !__builtin_mul_overflow(to_stride, size, &to) &&
        box->from_strides[last] == from && box->to_strides[last] == to) {
      box->dims[last] *= size;
      box->from_strides[last] = from_stride;
      box->to_strides[last] = to_stride;
      return;
    }
  }
  if (box->rank == ARRAY_BOX_MAX_AXES) {
    /* A tensor can have this many axes only if a later one is empty. */
    box->empty = true;
    return;
  }
  box->dims[box->rank] = size;
  box->from_strides[box->rank] = from_stride;
  box->to_strides[box->rank++] = to_stride;
}

typedef struct Wide {
  uint64_t low, high;
} Wide;

typedef struct BoxJob {
  const ArrayBox *box;
  const char *from;
  char *to;
  int64_t size;                      /* bytes of an element */
  int64_t pieces;                    /* per row of the innermost axis */
  int64_t piece;                     /* elements per piece */
  int64_t turns, from_turn, to_turn; /* a short axis that is not in the box: see copy_in_turn */
  const char *around; /* the fill value for elements of `to` outside of the box, if rows are contiguous and
                       * ordered in `to`; or NULL */
} BoxJob;

/* Elements that one thread copies. */
enum { PIECE = 32768 };

/* Rows that are copied before the next ones have their turn. */
enum { TURN = 128 };

#define SPREAD(T)                                                                  \
  do {                                                                             \
    T value = *(const T *)from; /* a local variable lets the compiler vectorise */ \
    for (int64_t i = 0; i < count; i++) ((T *)to)[i] = value;                      \
  } while (0)

void array_spread(int64_t size, int64_t count, const void *from, void *to) {
  switch (size) {
    case 1: memset(to, *(const unsigned char *)from, (size_t)count); break;
    case 2: SPREAD(uint16_t); break;
    case 4: SPREAD(uint32_t); break;
    case 8: SPREAD(uint64_t); break;
    default: SPREAD(Wide); break;
  }
}

/* Copies rows element by element. What the loops need is in local variables, which elements cannot alias. */
#define EACH(T)                                                                              \
  for (; count > 0; count--, from += from_step, to += to_step) {                             \
    const T *x = (const T *)from;                                                            \
    T *y = (T *)to;                                                                          \
    for (int64_t left = length; left > 0; left--, x += from_stride, y += to_stride) *y = *x; \
  }

static void copy_each(int64_t size, const ArrayRows *rows) {
  int64_t count = rows->count, length = rows->length, from_stride = rows->from_stride;
  int64_t from_step = rows->from_step * size, to_step = rows->to_step * size, to_stride = rows->to_stride;
  const char *from = rows->from;
  char *to = rows->to;
  switch (size) {
    case 1: EACH(uint8_t); break;
    case 2: EACH(uint16_t); break;
    case 4: EACH(uint32_t); break;
    case 8: EACH(uint64_t); break;
    default: EACH(Wide); break;
  }
}

void array_copy_rows(int64_t size, const ArrayRows *rows) {
  enum { SHORT = 16 };
  if (rows->from_stride == 1 && rows->to_stride == 1) {
    copy_rows(rows->to, rows->to_step * size, rows->from, rows->from_step * size, rows->length * size,
              rows->count);
  } else if (rows->from_stride == 0 && rows->to_stride == 1 && rows->length >= SHORT) {
    for (int64_t r = 0; r < rows->count; r++) {
      array_spread(size, rows->length, rows->from + r * rows->from_step * size,
                   rows->to + r * rows->to_step * size);
    }
  } else {
    copy_each(size, rows);
  }
}

/* Walks over the rows of a box, starting at the first: array 0 is `from`, 1 is `to`. A row is a run along the
 * innermost axis. */
static Odometer rows_of(const ArrayBox *box, int64_t index[ARRAY_BOX_MAX_AXES]) {
  return (Odometer){.rank = box->rank - 1,
                    .dims = box->dims,
                    .strides = {box->from_strides, box->to_strides},
                    .index = index,
                    .at = {box->from_offset, box->to_offset}};
}

static int64_t row_length(const ArrayBox *box) { return box->dims[box->rank - 1]; }

/* Fills the gaps of `length` elements before `count` rows that are `step` elements apart, the first of which
 * begins at `begin`. */
static void fill_gaps(const BoxJob *job, int64_t begin, int64_t length, int64_t step, int64_t count) {
  if (!job->around || length == 0) return;
  array_copy_rows(job->size, &(ArrayRows){.count = count,
                                          .length = length,
                                          .from = job->around,
                                          .to = job->to + (begin - length) * job->size,
                                          .to_step = step,
                                          .to_stride = 1});
}

/* Copies part of one row, or whole rows up to the end of the next axis: `count` items. */
static void copy_items(const BoxJob *job, const Odometer *o, int64_t piece, int64_t count) {
  const ArrayBox *box = job->box;
  int last = box->rank - 1;
  int64_t start = piece * job->piece;
  ArrayRows rows = {.count = count,
                    .length = box->dims[last] - start < job->piece ? box->dims[last] - start : job->piece,
                    .from = job->from + (o->at[0] + start * box->from_strides[last]) * job->size,
                    .to = job->to + (o->at[1] + start * box->to_strides[last]) * job->size,
                    .from_stride = box->from_strides[last],
                    .to_stride = box->to_strides[last]};
  if (last > 0) rows.from_step = box->from_strides[last - 1], rows.to_step = box->to_strides[last - 1];
  array_copy_rows(job->size, &rows);
  if (count > 1) fill_gaps(job, o->at[1] + rows.to_step, rows.to_step - rows.length, rows.to_step, count - 1);
}

static void copy_pieces(void *arg, int64_t begin, int64_t end) {
  const BoxJob *job = arg;
  const ArrayBox *box = job->box;
  int outer = box->rank - 2;
  int64_t row = begin / job->pieces, piece = begin % job->pieces, end_before = 0;
  int64_t index[ARRAY_BOX_MAX_AXES];
  Odometer o = rows_of(box, index);
  if (job->around && row > 0) {
    odometer_seek(&o, 2, row - 1);
    end_before = o.at[1] + row_length(box);
    odometer_advance(&o, 2, 1);
  } else {
    odometer_seek(&o, 2, row);
  }
  for (int64_t i = begin, count; i < end; i += count) {
    count = job->pieces == 1 && outer >= 0 ? box->dims[outer] - index[outer] : 1;
    if (count > end - i) count = end - i;
    if (piece == 0) fill_gaps(job, o.at[1], o.at[1] - end_before, 0, 1);
    copy_items(job, &o, piece, count);
    if (++piece < job->pieces) continue;
    piece = 0;
    end_before = o.at[1] + row_length(box);
    if (count > 1) end_before += (count - 1) * box->to_strides[outer];
    odometer_advance(&o, 2, count);
  }
}

/* Rows that lie close together, such as repetitions, take turns: each is copied for many positions of the
 * other axes at once, which are few enough to stay in the cache. */
static void copy_in_turn(void *arg, int64_t begin, int64_t end) {
  const BoxJob *job = arg;
  for (int64_t i = begin, next; i < end; i = next) {
    next = end - i > TURN ? i + TURN : end;
    for (int64_t k = 0; k < job->turns; k++) {
      BoxJob part = *job;
      part.from += k * job->from_turn * job->size;
      part.to += k * job->to_turn * job->size;
      copy_pieces(&part, i, next);
    }
  }
}

/* Takes the second innermost axis out of the box if it is shorter than the next one, which is then that of
 * the groups of rows: copying a group takes longer to begin than a row. */
static void take_turns(ArrayBox *box, BoxJob *job) {
  int axis = box->rank - 2, last = box->rank - 1;
  if (job->around || job->pieces > 1 || axis < 1 || box->dims[axis] >= box->dims[axis - 1] ||
      box->dims[axis] * box->dims[last] * job->size > COPY_SHORT)
    return;
  job->turns = box->dims[axis], job->from_turn = box->from_strides[axis],
  job->to_turn = box->to_strides[axis];
  box->dims[axis] = box->dims[last];
  box->from_strides[axis] = box->from_strides[last];
  box->to_strides[axis] = box->to_strides[last];
  box->rank--;
}

static bool copy_owner(const Tensor *from, int64_t source, Tensor *to, int64_t target, Status *status) {
  if (from->dtype == DT_STRING)
    return tstring_copy(&tensor_strings(to)[target], &tensor_strings(from)[source], status);
  TensorObject *object = ((TensorObject *const *)from->data)[source];
  if (object) tensor_object_ref(object);
  tensor_object_unref(((TensorObject **)to->data)[target]);
  ((TensorObject **)to->data)[target] = object;
  return true;
}

/* Elements that own memory are copied one by one. */
static bool copy_owners(const ArrayBox *box, int64_t rows, const Tensor *from, Tensor *to, Status *status) {
  int last = box->rank - 1;
  int64_t index[ARRAY_BOX_MAX_AXES];
  Odometer o = rows_of(box, index);
  odometer_seek(&o, 2, 0);
  for (int64_t row = 0; row < rows; row++, odometer_advance(&o, 2, 1)) {
    for (int64_t i = 0; i < box->dims[last]; i++) {
      int64_t source = o.at[0] + i * box->from_strides[last], target = o.at[1] + i * box->to_strides[last];
      TRY(copy_owner(from, source, to, target, status));
    }
  }
  return true;
}

/* The same box with rows; with `dense`, rows are contiguous in `to`. There is space for another axis, because
 * a tensor that fits into memory has fewer than the maximum. */
static ArrayBox with_rows(const ArrayBox *given, bool dense) {
  ArrayBox box = *given;
  if (box.rank == 0 || (dense && box.to_strides[box.rank - 1] != 1)) {
    box.dims[box.rank] = box.from_strides[box.rank] = box.to_strides[box.rank] = 1;
    box.rank++;
  }
  return box;
}

static bool copy_box(const ArrayBox *given, const Tensor *from, Tensor *to, const char *around,
                     const Parallel *parallel, Status *status) {
  ArrayBox box = with_rows(given, around);
  int64_t rows = 1, length = row_length(&box);
  for (int d = 0; d + 1 < box.rank; d++) rows *= box.dims[d];
  if (!dtype_is_pod(from->dtype)) return copy_owners(&box, rows, from, to, status);
  BoxJob job = {.box = &box,
                .from = from->data,
                .to = to->data,
                .size = (int64_t)dtype_size(from->dtype),
                .around = around};
  job.piece = length < PIECE ? length : PIECE;
  job.pieces = (length - 1) / job.piece + 1;
  bool by_rows = box.to_strides[box.rank - 1] == 1 && (uint64_t)box.from_strides[box.rank - 1] <= 1;
  double work = by_rows ? copy_work(job.piece * job.size) : (double)job.piece / 2;
  take_turns(&box, &job);
  if (job.turns > 0) parallel_work(parallel, rows / job.turns, work * (double)job.turns, copy_in_turn, &job);
  else parallel_work(parallel, rows * job.pieces, work, copy_pieces, &job);
  if (around) {
    int64_t index[ARRAY_BOX_MAX_AXES];
    Odometer last = rows_of(&box, index);
    odometer_seek(&last, 2, rows - 1);
    int64_t end = tensor_num_elements(to);
    fill_gaps(&job, end, end - last.at[1] - length, 0, 1);
  }
  return true;
}

bool array_box_copy(const ArrayBox *box, const Tensor *from, Tensor *to, const Parallel *parallel,
                    Status *status) {
  return box->empty || copy_box(box, from, to, NULL, parallel, status);
}

bool array_box_embed(const ArrayBox *box, const Tensor *from, const Tensor *around, Tensor *to,
                     const Parallel *parallel, Status *status) {
  static const char kZero[16];
  bool pod = dtype_is_pod(to->dtype);
  if (!box->empty && pod) return copy_box(box, from, to, around ? around->data : kZero, parallel, status);
  if (!around) {
    array_clear(to);
  } else if (tensor_num_elements(to) > 0) {
    ArrayBox all = {0};
    array_box_add(&all, tensor_num_elements(to), 0, 1);
    TRY(array_box_copy(&all, around, to, parallel, status));
  }
  return array_box_copy(box, from, to, parallel, status);
}

typedef struct RowJob {
  const char *from;
  char *to;
  const int64_t *rows;
  int64_t bytes; /* size of a row in bytes */
} RowJob;

static void gather_rows(void *arg, int64_t begin, int64_t end) {
  const RowJob job = *(const RowJob *)arg; /* a local variable, which the copies cannot change */
  char *to = job.to + begin * job.bytes;
  for (int64_t i = begin; i < end; i++, to += job.bytes) {
    if (job.rows[i] < 0) memset(to, 0, (size_t)job.bytes);
    else copy_bytes(to, job.from + job.rows[i] * job.bytes, job.bytes);
  }
}

bool array_gather_rows(const Tensor *from, const int64_t *rows, int64_t count, int64_t length, Tensor *to,
                       const Parallel *parallel, Status *status) {
  if (length == 0) return true;
  if (dtype_is_pod(from->dtype)) {
    RowJob job = {from->data, to->data, rows, length * (int64_t)dtype_size(from->dtype)};
    parallel_work(parallel, count, copy_work(job.bytes), gather_rows, &job);
    return true;
  }
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; rows[i] >= 0 && k < length; k++) {
      TRY(copy_owner(from, rows[i] * length + k, to, i * length + k, status));
    }
  }
  return true;
}

bool array_scatter_rows(const Tensor *from, const int64_t *rows, int64_t count, int64_t length, Tensor *to,
                        Status *status) {
  int64_t bytes = length * (int64_t)dtype_size(from->dtype);
  if (length == 0) return true;
  for (int64_t i = 0; i < count; i++) {
    if (rows[i] < 0) continue;
    if (dtype_is_pod(from->dtype)) {
      copy_bytes((char *)to->data + rows[i] * bytes, (const char *)from->data + i * bytes, bytes);
      continue;
    }
    for (int64_t k = 0; k < length; k++) {
      TRY(copy_owner(from, i * length + k, to, rows[i] * length + k, status));
    }
  }
  return true;
}

Buffer *array_row_numbers(KernelContext *context, int64_t count, int64_t **numbers, Status *status) {
  int64_t bytes;
  if (__builtin_mul_overflow(count > 0 ? count : 1, (int64_t)sizeof **numbers, &bytes)) {
    status_oom(status, "numbers of rows");
    return NULL;
  }
  Buffer *buffer = kernel_scratch(context, bytes, status);
  if (buffer) *numbers = buffer->data;
  return buffer;
}

bool array_is_empty(int rank, const int64_t *dims) {
  for (int d = 0; d < rank; d++) {
    if (dims[d] == 0) return true;
  }
  return false;
}

/* Whether the elements lie one behind the other in both tensors. */
static bool is_dense(const ArrayBox *box) {
  return box->rank == 0 || (box->rank == 1 && box->from_strides[0] == 1 && box->to_strides[0] == 1);
}

bool array_box_take(KernelContext *context, int i, const ArrayBox *box, const Tensor *from, int rank,
                    const int64_t *dims, Status *status) {
  bool empty = array_is_empty(rank, dims), shared = false;
  if (!empty && is_dense(box))
    TRY(kernel_share_part(context, i, from, box->from_offset, rank, dims, &shared, status));
  if (shared) return true;
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, i, rank, dims, &out, status));
  return empty || array_box_copy(box, from, out, context->parallel, status);
}

void array_strides(const Shape *shape, int64_t *strides) {
  /* The product of sizes overflows only for a tensor without elements, whose strides are never used. */
  int64_t stride = shape_num_elements(shape) > 0 ? 1 : 0;
  for (int i = shape->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape_dim(shape, i);
  }
}

void array_clear(Tensor *to) {
  if (dtype_is_pod(to->dtype)) memset(to->data, 0, (size_t)tensor_bytes(to));
}

void array_print_position(const Shape *shape, int rank, int64_t i, StrBuf *out) {
  int64_t at[SHAPE_MAX_RANK];
  Odometer o = {.rank = rank, .dims = shape_dims(shape), .index = at};
  odometer_seek(&o, 0, i);
  for (int d = 0; d < rank; d++) {
    strbuf_printf(out, "%s%lld%s", d == 0 ? "[" : ",", (long long)at[d], d == rank - 1 ? "]" : "");
  }
}

bool array_read_ints(const Tensor *tensor, int64_t values[SHAPE_MAX_RANK], Status *status) {
  int64_t count = tensor_num_elements(tensor);
  if (count > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int64_t i = 0; i < count; i++) values[i] = tensor_int_at(tensor, i);
  return true;
}

bool array_refuse_index(const Tensor *indices, int64_t i, int64_t limit, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, "indices");
  array_print_position(&indices->shape, indices->shape.rank, i, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "%s = %lld is not in [0, %lld)", strbuf_text(&text),
                   (long long)tensor_int_at(indices, i), (long long)limit);
  }
  strbuf_free(&text);
  return false;
}
