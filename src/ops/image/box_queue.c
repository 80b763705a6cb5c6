#include "ops/image/box_queue.h"

static bool is_behind(const BoxQueue *queue, BoxCandidate a, BoxCandidate b) {
  return a.score < b.score || (queue->by_index && a.score == b.score && a.box > b.box);
}

/* Puts the candidate at `at` or above. */
static void sift_up(BoxQueue *queue, int64_t at, BoxCandidate candidate) {
  BoxCandidate *heap = queue->heap;
  for (; at > 0 && is_behind(queue, heap[(at - 1) / 2], candidate); at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = candidate;
}

void box_queue_add(BoxQueue *queue, BoxCandidate candidate) { sift_up(queue, queue->count++, candidate); }

/* The hole at the root moves down to a leaf, and the last candidate takes its place: this order of ties is
 * the C++ library's. */
BoxCandidate box_queue_take(BoxQueue *queue) {
  BoxCandidate *heap = queue->heap, first = heap[0], last = heap[--queue->count];
  int64_t hole = 0, child;
  for (; (child = 2 * hole + 1) < queue->count; hole = child) {
    if (child + 1 < queue->count && !is_behind(queue, heap[child + 1], heap[child])) child++;
    heap[hole] = heap[child];
  }
  if (queue->count > 0) sift_up(queue, hole, last);
  return first;
}

static float lesser(float a, float b) { return b < a ? b : a; }
static float greater(float a, float b) { return a < b ? b : a; }

/* The length that two intervals have in common. */
static float common(float a0, float a1, float b0, float b1) {
  return greater(lesser(greater(a0, a1), greater(b0, b1)) - greater(lesser(a0, a1), lesser(b0, b1)), 0);
}

static float area(const float box[4]) {
  return (greater(box[0], box[2]) - lesser(box[0], box[2])) *
         (greater(box[1], box[3]) - lesser(box[1], box[3]));
}

float box_overlap(const float a[4], const float b[4]) {
  float area_a = area(a), area_b = area(b);
  if (area_a <= 0 || area_b <= 0) return 0;
  float both = common(a[0], a[2], b[0], b[2]) * common(a[1], a[3], b[1], b[3]);
  return both / (area_a + area_b - both);
}
