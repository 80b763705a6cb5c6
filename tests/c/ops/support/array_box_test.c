/* Boxes of random sizes and strides, element by element. */
#include "ops/support/array_box.h"

#include <string.h>

#include "blas/fake_parallel.h"
#include "harness.h"
#include "random_numbers.h"

enum { AXES = 4 };

static const DataType kTypes[] = {DT_INT8, DT_HALF, DT_FLOAT, DT_DOUBLE, DT_COMPLEX128};

/* Where the axes of a box lie in two dense tensors. */
typedef struct BoxCase {
  int rank;
  int64_t sizes[AXES], from_dims[AXES], to_dims[AXES], from_begin[AXES], to_begin[AXES], from_step[AXES],
      to_step[AXES];
  ArrayBox box;
} BoxCase;

/* Chooses where `size` elements lie along an axis: its length, the first and the step. */
static void choose_axis(Random *random, int64_t size, bool dense, int64_t *dim, int64_t *begin,
                        int64_t *step) {
  static const int64_t kSteps[] = {1, 1, 1, 1, 2, -1, -2, 3};
  *step = dense ? 1 : kSteps[random_below(random, 8)];
  int64_t before = one_in(random, 2) ? 0 : random_below(random, 4), span = (size - 1) * *step;
  *begin = before + (span < 0 ? -span : 0);
  *dim = before + (span < 0 ? -span : span) + 1 + (one_in(random, 2) ? 0 : random_below(random, 4));
}

static BoxCase choose_box(Random *random, bool dense) {
  BoxCase c = {.rank = 1 + random_below(random, AXES)};
  bool many = one_in(random, 8); /* enough for several threads */
  int64_t from_stride = 1, to_stride = 1;
  for (int d = 0; d < c.rank; d++) {
    int limit = many ? (d == 0 ? 3000 : 4) : one_in(random, 8) ? 100 : d == c.rank - 1 ? 40 : 12;
    c.sizes[d] = 1 + random_below(random, c.rank > 2 && d > 0 && limit > 40 ? 40 : limit);
    choose_axis(random, c.sizes[d], false, &c.from_dims[d], &c.from_begin[d], &c.from_step[d]);
    choose_axis(random, c.sizes[d], dense, &c.to_dims[d], &c.to_begin[d], &c.to_step[d]);
    if (one_in(random, 6)) c.from_step[d] = 0; /* repeats an element */
  }
  int64_t from_strides[AXES], to_strides[AXES];
  for (int d = c.rank - 1; d >= 0; d--) {
    from_strides[d] = from_stride, to_strides[d] = to_stride;
    from_stride *= c.from_dims[d], to_stride *= c.to_dims[d];
    c.box.from_offset += c.from_begin[d] * from_strides[d];
    c.box.to_offset += c.to_begin[d] * to_strides[d];
  }
  for (int d = 0; d < c.rank; d++)
    array_box_add(&c.box, c.sizes[d], from_strides[d] * c.from_step[d], to_strides[d] * c.to_step[d]);
  return c;
}

/* Copies the elements of the box to `want`. */
static void copy_plainly(const BoxCase *c, const Tensor *from, char *want, size_t size) {
  int64_t count = 1;
  for (int d = 0; d < c->rank; d++) count *= c->sizes[d];
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, source = 0, target = 0, from_stride = 1, to_stride = 1;
    for (int d = c->rank - 1; d >= 0; d--) {
      int64_t at = rest % c->sizes[d];
      rest /= c->sizes[d];
      source += (c->from_begin[d] + at * c->from_step[d]) * from_stride;
      target += (c->to_begin[d] + at * c->to_step[d]) * to_stride;
      from_stride *= c->from_dims[d], to_stride *= c->to_dims[d];
    }
    memcpy(want + (size_t)target * size, (const char *)from->data + (size_t)source * size, size);
  }
}

static void check_box(Random *random, DataType dtype, bool embed) {
  Status status;
  status_init(&status);
  BoxCase c = choose_box(random, embed);
  Tensor from = {0}, to = {0}, want = {0}, around = {0};
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 3};
  const Parallel *threads = one_in(random, 2) ? &parallel : NULL;
  size_t size = dtype_size((int)dtype);
  CHECK_CONTEXT("%s, rank %d, last axis %d", dtype_name((int)dtype), c.rank, (int)c.sizes[c.rank - 1]);
  if (CHECK_OK(fill_random_tensor(random, dtype, c.rank, c.from_dims, &from, &status), status) &&
      CHECK_OK(fill_random_tensor(random, dtype, c.rank, c.to_dims, &to, &status), status) &&
      CHECK_OK(tensor_allocate_dims(&want, dtype, c.rank, c.to_dims, NULL, &status), status) &&
      CHECK_OK(fill_random_tensor(random, dtype, 0, NULL, &around, &status), status)) {
    char *bytes = want.data;
    memcpy(bytes, to.data, (size_t)tensor_bytes(&to));
    for (int64_t i = 0; embed && i < tensor_num_elements(&to); i++)
      memcpy(bytes + (size_t)i * size, around.data, size);
    copy_plainly(&c, &from, bytes, size);
    if (embed) CHECK_OK(array_box_embed(&c.box, &from, &around, &to, threads, &status), status);
    else CHECK_OK(array_box_copy(&c.box, &from, &to, threads, &status), status);
    CHECK_MEM_EQ(to.data, bytes, (size_t)tensor_bytes(&to));
  }
  tensor_clear(&from), tensor_clear(&to), tensor_clear(&want), tensor_clear(&around);
  CHECK_CONTEXT("%s", "");
}

TEST(boxes_are_copied_to_their_places_and_nowhere_else) {
  Random random = {11};
  for (int i = 0; i < 1500; i++) check_box(&random, kTypes[i % 5], false);
}

TEST(boxes_are_embedded_in_the_fill_value) {
  Random random = {12};
  for (int i = 0; i < 1500; i++) check_box(&random, kTypes[i % 5], true);
}
