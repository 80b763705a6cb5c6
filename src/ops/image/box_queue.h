/* Shared by the ops that suppress overlapping boxes: the queue of candidates, and the overlap of two. */
#ifndef TFCORE_OPS_IMAGE_BOX_QUEUE_H_
#define TFCORE_OPS_IMAGE_BOX_QUEUE_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct BoxCandidate {
  float score;
  int32_t box;
  int32_t compared; /* the number of selected boxes with which it was compared */
} BoxCandidate;

/* A heap with the highest score at the root. The caller owns the array, which has room for all candidates. */
typedef struct BoxQueue {
  BoxCandidate *heap;
  int64_t count;
  bool by_index; /* of equal scores the lower index comes first; otherwise as the C++ library decides */
} BoxQueue;

void box_queue_add(BoxQueue *queue, BoxCandidate candidate);
/* Removes the first candidate; the queue must not be empty. */
BoxCandidate box_queue_take(BoxQueue *queue);

/* Intersection over union of two boxes, each given by two opposite corners (y, x, y, x) in any order. 0 if
 * the area of one is not positive. */
float box_overlap(const float a[4], const float b[4]);

#endif
