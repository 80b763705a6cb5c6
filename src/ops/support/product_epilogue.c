#include "ops/support/product_epilogue.h"

static bool find_bias(ProductEnd *end, const KernelContext *context, const Tensor *out, Status *status) {
  const Tensor *tensor = context->inputs[2];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (tensor->shape.rank != 1)
    return status_invalid(status, "Biases must be 1D: %s", shape_text(&tensor->shape, a));
  if (tensor_num_elements(tensor) != end->channels) {
    return status_invalid(status,
                          "Must provide as many biases as the last dimension of the input tensor: %s vs. %s",
                          shape_text(&tensor->shape, a), shape_text(&out->shape, b));
  }
  end->bias = tensor->data;
  return true;
}

/* --- the program --- */

static void run_block(const void *arg, void *c, int64_t rows, int64_t columns) {
  const ProductEnd *end = arg;
  fused_tiles_block(end->run, ((char *)c - end->result) / end->element, rows, end->channels, columns);
}

/* The shape with which an input is read: results of a product that was reshaped have other shapes. */
static const Shape *shape_beside(const ProductEnd *end, const Tensor *input, const Tensor *out) {
  static const Shape kScalar = {0};
  const Shape *shape = &input->shape;
  int64_t count = tensor_num_elements(input);
  if (count == tensor_num_elements(out)) return &out->shape;
  if (count == 1) return &kScalar;
  bool is_row = count == end->channels && shape_dim(shape, shape->rank - 1) == count;
  return is_row ? &end->row : NULL;
}

static bool begin_program(ProductEnd *end, const FusedProgram *program, KernelContext *context,
                          const Tensor *out, int first, Status *status) {
  const Shape *shapes[FUSED_MOST_ARGS + 1] = {&out->shape};
  void *data[FUSED_MOST_ARGS + 1] = {out->data};
  if (context->num_inputs - first != program->num_inputs - 1) return fused_program_refuse(status);
  TRY(shape_set(&end->row, 1, &end->channels, status));
  for (int i = 1; i < program->num_inputs; i++) {
    const Tensor *input = context->inputs[first + i - 1];
    char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
    if (!(shapes[i] = shape_beside(end, input, out))) {
      return status_invalid(status, "Incompatible shapes: %s vs. %s", shape_text(&out->shape, a),
                            shape_text(&input->shape, b));
    }
    data[i] = input->data;
  }
  FusedRun *run = fused_run_in(context, program, &end->room);
  bool tiles;
  if (!fused_run_begin(run, context, shapes, data, &tiles, status)) {
    fused_run_end(run);
    return false;
  }
  end->run = run;
  if (tiles) {
    end->result = out->data;
    end->element = (int64_t)dtype_size(out->dtype);
    end->blocks = (GemmEpilogue){run_block, end, fused_run_work(run)};
    end->epilogue = &end->blocks;
  }
  return true;
}

/* --- all --- */

bool product_end_begin(ProductEnd *end, KernelContext *context, const Tensor *out, int64_t channels,
                       Status *status) {
  const ProductEpilogue *epilogue = context->data;
  end->bias = end->epilogue = NULL;
  end->activation = epilogue ? epilogue->activation : GEMM_NONE;
  end->run = NULL;
  end->channels = channels;
  end->row = (Shape){0};
  if (!epilogue) return true;
  if (epilogue->has_bias) TRY(find_bias(end, context, out, status));
  /* Products without results run no epilogue, */
  if (!epilogue->program || tensor_num_elements(out) == 0) return true;
  return begin_program(end, epilogue->program, context, out, 2 + epilogue->has_bias, status);
}

bool product_end_finish(ProductEnd *end, bool ok) {
  if (!end->run) return ok;
  if (ok && !end->epilogue) fused_run_rest(end->run);
  fused_run_end(end->run);
  shape_clear(&end->row);
  return ok;
}
