/* An InferenceContext for one artificial node, for tests. */
#ifndef TFCORE_TESTS_OP_SHAPE_FIXTURE_H_
#define TFCORE_TESTS_OP_SHAPE_FIXTURE_H_

#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "op/shape_inference.h"
#include "shape_facts.h"

typedef struct Fixture {
  Arena *arena;
  InferenceContext c;
  NodeDef *node;
  ShapeHandle inputs[SHAPE_FACTS_MAX_SHAPES], outputs[8];
  Tensor values[8];
  const Tensor *input_tensors[SHAPE_FACTS_MAX_SHAPES];
  ShapeHandle as_shapes[SHAPE_FACTS_MAX_SHAPES];
  bool requested[SHAPE_FACTS_MAX_SHAPES], requested_as_shape[SHAPE_FACTS_MAX_SHAPES];
  const HandleData *input_handles[SHAPE_FACTS_MAX_SHAPES], *output_handles[8];
  Status status;
} Fixture;

/* A node with these input shapes and one output. */
static inline void fixture_begin(Fixture *f, const char *inputs) {
  *f = (Fixture){.arena = arena_new()};
  f->node = node_def_new(f->arena, "n", "Test");
  f->c = (InferenceContext){
      .node = f->node,
      .graph_def_version = 134,
      .arena = f->arena,
      .num_outputs = 1,
      .inputs = f->inputs,
      .outputs = f->outputs,
      .input_tensors = f->input_tensors,
      .input_tensors_as_shapes = f->as_shapes,
      .requested_tensor = f->requested,
      .requested_tensor_as_shape = f->requested_as_shape,
      .input_handles = f->input_handles,
      .output_handles = f->output_handles,
  };
  f->c.num_inputs = shape_facts_parse(&f->c, inputs, f->inputs);
  CHECK(f->c.num_inputs >= 0);
}

static inline void fixture_end(Fixture *f) {
  for (int i = 0; i < 8; i++) tensor_clear(&f->values[i]);
  arena_free(f->arena);
}

static inline void fixture_attr(Fixture *f, const char *name, AttrValue *value) {
  CHECK_OK(node_def_set_attr(f->node, f->arena, name, value, &f->status), f->status);
}

/* Gives input `i` (below 8) a known value of type int32 or int64. */
static inline void fixture_value(Fixture *f, int i, DataType type, int rank, const int64_t *dims,
                                 const int64_t *values) {
  if (!CHECK_OK(tensor_allocate_dims(&f->values[i], type, rank, dims, NULL, &f->status), f->status)) return;
  for (int64_t k = 0; k < tensor_num_elements(&f->values[i]); k++) {
    if (type == DT_INT32) {
      tensor_i32(&f->values[i])[k] = (int32_t)values[k];
    } else {
      tensor_i64(&f->values[i])[k] = values[k];
    }
  }
  f->input_tensors[i] = &f->values[i];
}

static inline void fixture_scalar(Fixture *f, int i, DataType type, int64_t value) {
  fixture_value(f, i, type, 0, NULL, &value);
}

static inline void fixture_vector(Fixture *f, int i, DataType type, int64_t length, const int64_t *values) {
  fixture_value(f, i, type, 1, &length, values);
}

/* Checks a shape's text. */
static inline void check_shape(ShapeHandle shape, const char *want) {
  StrBuf text = {0};
  if (shape) shape_handle_print(shape, &text);
  CHECK_STR_EQ(strbuf_text(&text), want);
  strbuf_free(&text);
}

/* Runs the function and checks the outputs in the language of shape_facts.h. */
static inline void check_outputs(Fixture *f, ShapeFn function, const char *want) {
  StrBuf why = {0};
  if (CHECK_OK(function(&f->c, &f->status), f->status)) {
    bool same = shape_facts_match(&f->c, want, &why);
    CHECK_STR_EQ(same ? "" : strbuf_text(&why), "");
  }
  strbuf_free(&why);
}

#endif
