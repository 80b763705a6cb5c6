#include "ops/sparse/position_sort.h"

#include <stdbool.h>
#include <string.h>

typedef struct Order {
  ComparePositions *compare;
  const void *context;
} Order;

/* Merges the sorted runs [begin, middle) and [middle, end) of `from` into `to`. */
static void merge(const Order *order, const int64_t *from, int64_t *to, int64_t begin, int64_t middle,
                  int64_t end) {
  int64_t a = begin, b = middle;
  for (int64_t i = begin; i < end; i++) {
    bool left = a < middle && (b >= end || order->compare(order->context, from[a], from[b]) <= 0);
    to[i] = left ? from[a++] : from[b++];
  }
}

void sort_positions(int64_t *positions, int64_t count, int64_t *scratch, ComparePositions *compare,
                    const void *context) {
  const Order order = {compare, context};
  int64_t *from = positions, *to = scratch;
  bool sorted = true;
  for (int64_t i = 1; sorted && i < count; i++)
    sorted = compare(context, positions[i - 1], positions[i]) <= 0;
  for (int64_t width = 1; !sorted && width < count; width *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
      int64_t middle = begin + width < count ? begin + width : count;
      int64_t end = middle + width < count ? middle + width : count;
      merge(&order, from, to, begin, middle, end);
    }
    int64_t *old = from;
    from = to;
    to = old;
  }
  if (from != positions) memcpy(positions, from, (size_t)count * sizeof *positions);
}
