/* Steps of one graph in two sessions, with and without the optimizer, for the tests of fused nodes. */
#ifndef TFCORE_TESTS_RUNTIME_FUSED_STEPS_H_
#define TFCORE_TESTS_RUNTIME_FUSED_STEPS_H_

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "c_api/random_values.h"
#include "runtime/session_fixture.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static inline Session *plain_session(Fixture *f) {
  Session *session = session_new(f->graph, &f->status);
  if (session) session_optimize(session, false);
  return session;
}

enum { MOST_FEEDS = 12, MOST_FETCHES = 8 };

typedef struct TestStep {
  NodeOutput feeds[MOST_FEEDS], fetches[MOST_FETCHES];
  Tensor values[MOST_FEEDS], results[MOST_FETCHES];
  int num_feeds, num_fetches;
} TestStep;

static inline bool run_step(Session *session, TestStep *step, Status *status) {
  const Tensor *values[MOST_FEEDS];
  for (int i = 0; i < step->num_feeds; i++) values[i] = &step->values[i];
  return session_run(session, step->feeds, values, step->num_feeds, step->fetches, step->results,
                     step->num_fetches, NULL, 0, status);
}

static inline void clear_results(TestStep *step) {
  for (int i = 0; i < step->num_fetches; i++) tensor_clear(&step->results[i]);
}

static inline void clear_values(TestStep *step) {
  for (int i = 0; i < step->num_feeds; i++) tensor_clear(&step->values[i]);
}

static inline const char *pick(Random *random, const char *const *list, int count) {
  return list[random_below(random, count)];
}

/* The same bits; any NaN equals any other. */
static inline bool same_element(const Tensor *a, const Tensor *b, int64_t i) {
  size_t size = dtype_size((int)a->dtype);
  if (memcmp((char *)a->data + (size_t)i * size, (char *)b->data + (size_t)i * size, size) == 0) return true;
  return a->dtype != DT_BOOL && isnan(tensor_double_at(a, i)) && isnan(tensor_double_at(b, i));
}

static inline void check_same(const Tensor *fused, const Tensor *plain, const char *what) {
  if (!CHECK(fused->dtype == plain->dtype && shape_equal(&fused->shape, &plain->shape))) return;
  for (int64_t i = 0; i < tensor_num_elements(plain); i++) {
    CHECK_CONTEXT("%s, element %d", what, (int)i);
    if (!CHECK(same_element(fused, plain, i))) break;
  }
  CHECK_CONTEXT("%s", "");
}

#endif
