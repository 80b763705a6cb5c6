/* Steps whose kernels are in a side module: they wait until it is loaded. */
#include "op/engine_parts.h"
#include "op/side_kernels.h"

#include "runtime/session_fixture.h"

/* A scalar of a type, to feed, and a function of it. */
typedef struct Scalar {
  Fixture f;
  NodeOutput x, y;
  Tensor value;
} Scalar;

/* Begins without the side module. */
static bool begin_scalar(Scalar *s, const char *op, DataType type, const char *dtype, double value) {
  const Attr attrs[] = {{"dtype", dtype}, {"shape", "shape { }"}};
  *s = (Scalar){0};
  engine_part_set_missing(PART_SIDE, true);
  if (!begin(&s->f)) return false;
  s->x = out(add_node(s->f.graph, "Placeholder", "x", NULL, 0, attrs, 2));
  s->y = unary(s->f.graph, op, "y", s->x);
  if (!CHECK_OK(tensor_allocate_dims(&s->value, type, 0, NULL, NULL, &s->f.status), s->f.status))
    return false;
  if (type == DT_FLOAT) *tensor_f32(&s->value) = (float)value;
  if (type == DT_DOUBLE) *tensor_f64(&s->value) = value;
  return CHECK(s->y.node);
}

static RunState start(Scalar *s, Tensor *result, SessionStep **step) {
  return start_step(s->f.session, NULL, &s->x, &s->value, s->y, 0, result, step, &s->f.status);
}

static void end_scalar(Scalar *s) {
  engine_part_set_missing(PART_SIDE, false);
  tensor_clear(&s->value);
  end(&s->f);
}

TEST(steps_without_side_types_do_not_want_the_side_module) {
  Scalar s;
  if (begin_scalar(&s, "Square", DT_FLOAT, "type: DT_FLOAT", 3)) {
    Tensor result = {0};
    SessionStep *step;
    if (CHECK_INT_EQ(start(&s, &result, &step), RUN_DONE)) CHECK(*tensor_f32(&result) == 9);
    tensor_clear(&result);
  }
  end_scalar(&s);
}

TEST(a_step_waits_for_the_side_module) {
  Scalar s;
  if (begin_scalar(&s, "Square", DT_DOUBLE, "type: DT_DOUBLE", 3)) {
    Tensor result = {0};
    SessionStep *step;
    CHECK(side_kernels_wanted());
    CHECK_INT_EQ(start(&s, &result, &step), RUN_WAITING);
    for (int i = 0; i < 2; i++) {
      CHECK(session_step_is_blocked(step));
      CHECK_INT_EQ(session_advance(step, 0, &result, &s.f.status), RUN_WAITING);
    }
    engine_part_set_missing(PART_SIDE, false);
    if (CHECK_INT_EQ(session_advance(step, 0, &result, &s.f.status), RUN_DONE))
      CHECK(*tensor_f64(&result) == 9);
    tensor_clear(&result);
  }
  end_scalar(&s);
}

/* LeakyRelu has an attr, alpha: 0.2 by default, which its constructor reads. */
TEST(a_kernel_is_constructed_when_the_side_module_is_there) {
  Scalar s;
  if (begin_scalar(&s, "LeakyRelu", DT_DOUBLE, "type: DT_DOUBLE", -3)) {
    SessionStep *step;
    for (int i = 0; i < 3; i++) {
      Tensor result = {0};
      RunState state = start(&s, &result, &step);
      if (i == 0) {
        CHECK_INT_EQ(state, RUN_WAITING);
        engine_part_set_missing(PART_SIDE, false);
        state = session_advance(step, 0, &result, &s.f.status);
      }
      if (CHECK_INT_EQ(state, RUN_DONE)) CHECK_NEAR(*tensor_f64(&result), -0.6, 1e-7);
      tensor_clear(&result);
    }
  }
  end_scalar(&s);
}

TEST(a_step_that_waits_for_the_side_module_can_be_abandoned) {
  Scalar s;
  if (begin_scalar(&s, "Square", DT_DOUBLE, "type: DT_DOUBLE", 3)) {
    Tensor result = {0};
    SessionStep *step;
    if (CHECK_INT_EQ(start(&s, &result, &step), RUN_WAITING)) session_abandon(step);
    CHECK(tensor_is_empty(&result));
  }
  end_scalar(&s);
}
