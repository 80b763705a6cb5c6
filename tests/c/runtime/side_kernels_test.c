/* Steps whose kernels are in a side module: they wait until it is loaded. */
#include "op/side_kernels.h"

#include "runtime/session_fixture.h"

/* A scalar of a type, to feed, and its square. */
typedef struct Square {
  Fixture f;
  NodeOutput x, y;
  Tensor value;
} Square;

/* Begins without the side module. */
static bool begin_square(Square *s, DataType type, const char *dtype, double value) {
  const Attr attrs[] = {{"dtype", dtype}, {"shape", "shape { }"}};
  *s = (Square){0};
  side_kernels_set_missing(true);
  if (!begin(&s->f)) return false;
  s->x = out(add_node(s->f.graph, "Placeholder", "x", NULL, 0, attrs, 2));
  s->y = unary(s->f.graph, "Square", "y", s->x);
  if (!CHECK_OK(tensor_allocate_dims(&s->value, type, 0, NULL, NULL, &s->f.status), s->f.status))
    return false;
  if (type == DT_FLOAT) *tensor_f32(&s->value) = (float)value;
  if (type == DT_DOUBLE) *tensor_f64(&s->value) = value;
  return CHECK(s->y.node);
}

static RunState start(Square *s, Tensor *result, SessionStep **step) {
  return start_step(s->f.session, NULL, &s->x, &s->value, s->y, 0, result, step, &s->f.status);
}

static void end_square(Square *s) {
  side_kernels_set_missing(false);
  tensor_clear(&s->value);
  end(&s->f);
}

TEST(steps_without_side_types_do_not_want_the_side_module) {
  Square s;
  if (begin_square(&s, DT_FLOAT, "type: DT_FLOAT", 3)) {
    Tensor result = {0};
    SessionStep *step;
    if (CHECK_INT_EQ(start(&s, &result, &step), RUN_DONE)) CHECK(*tensor_f32(&result) == 9);
    tensor_clear(&result);
  }
  end_square(&s);
}

TEST(a_step_waits_for_the_side_module) {
  Square s;
  if (begin_square(&s, DT_DOUBLE, "type: DT_DOUBLE", 3)) {
    Tensor result = {0};
    SessionStep *step;
    CHECK(side_kernels_wanted());
    CHECK_INT_EQ(start(&s, &result, &step), RUN_WAITING);
    for (int i = 0; i < 2; i++) {
      CHECK(session_step_is_blocked(step));
      CHECK_INT_EQ(session_advance(step, 0, &result, &s.f.status), RUN_WAITING);
    }
    side_kernels_set_missing(false);
    if (CHECK_INT_EQ(session_advance(step, 0, &result, &s.f.status), RUN_DONE))
      CHECK(*tensor_f64(&result) == 9);
    tensor_clear(&result);
  }
  end_square(&s);
}

TEST(a_step_that_waits_for_the_side_module_can_be_abandoned) {
  Square s;
  if (begin_square(&s, DT_DOUBLE, "type: DT_DOUBLE", 3)) {
    Tensor result = {0};
    SessionStep *step;
    if (CHECK_INT_EQ(start(&s, &result, &step), RUN_WAITING)) session_abandon(step);
    CHECK(tensor_is_empty(&result));
  }
  end_square(&s);
}
