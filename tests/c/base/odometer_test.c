#include "base/odometer.h"

#include "base/parallel.h"
#include "harness.h"

/* Three arrays over a box of 3 x 1 x 4: row-major, transposed, and one that repeats its rows. */
enum { RANK = 3, COUNT = 12 };
static const int64_t kDims[RANK] = {3, 1, 4};
static const int64_t kDense[RANK] = {4, 4, 1}, kTransposed[RANK] = {1, 7, 3}, kRepeated[RANK] = {0, 0, -2};

static Odometer walk(int64_t *index) {
  return (Odometer){.rank = RANK,
                    .dims = kDims,
                    .strides = {kDense, kTransposed, kRepeated},
                    .index = index,
                    .at = {0, 100, 6}};
}

static void check_position(const Odometer *o, int64_t position) {
  int64_t row = position / 4, column = position % 4;
  CHECK_INT_EQ(o->index[0], row);
  CHECK_INT_EQ(o->index[1], 0);
  CHECK_INT_EQ(o->index[2], column);
  CHECK_INT_EQ(o->at[0], position);
  CHECK_INT_EQ(o->at[1], 100 + row + 3 * column);
  CHECK_INT_EQ(o->at[2], 6 - 2 * column);
}

TEST(an_odometer_advances_from_wherever_it_was_set) {
  for (int64_t begin = 0; begin < COUNT; begin++) {
    int64_t index[RANK];
    Odometer o = walk(index);
    odometer_seek(&o, 3, begin);
    for (int64_t i = begin; i < COUNT; i++, odometer_advance(&o, 3, 1)) check_position(&o, i);
    check_position(&o, 0); /* after the last position comes the first */
  }
}

TEST(an_odometer_steps_to_the_end_of_a_row) {
  int64_t index[RANK];
  Odometer o = walk(index);
  odometer_seek(&o, 3, 1);
  odometer_advance(&o, 3, 2);
  check_position(&o, 3);
  odometer_advance(&o, 3, 1);
  check_position(&o, 4);
  odometer_advance(&o, 3, 4);
  check_position(&o, 8);
}

TEST(an_odometer_of_no_axes_has_one_position) {
  Odometer o = {.rank = 0, .at = {5}};
  odometer_seek(&o, 1, 0);
  odometer_advance(&o, 1, 1);
  CHECK_INT_EQ(o.at[0], 5);
}

TEST(the_grain_is_as_many_indices_as_are_worth_a_thread) {
  static const double kWork[] = {1, 1.5, 2, 3, 1000, 8191, 8192};
  for (size_t i = 0; i < sizeof kWork / sizeof kWork[0]; i++) {
    int64_t grain = parallel_grain(kWork[i]);
    CHECK((double)grain * kWork[i] >= PARALLEL_WORK);
    CHECK((double)(grain - 1) * kWork[i] < PARALLEL_WORK);
  }
  CHECK_INT_EQ(parallel_wake_grain(0.5), PARALLEL_WAKE * PARALLEL_WORK);
  CHECK_INT_EQ(parallel_wake_grain(4), PARALLEL_WAKE * PARALLEL_WORK / 4);
  CHECK_INT_EQ(parallel_grain(0), PARALLEL_WORK);
  CHECK_INT_EQ(parallel_grain(0.25), PARALLEL_WORK);
  CHECK_INT_EQ(parallel_grain(1e300), 1);
}
