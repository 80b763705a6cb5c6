#include "ops/support/reshape_sizes.h"

#include "ops/support/array_box.h"

/* The size for -1. If there are no elements but a size of 0 was requested, zeros are ignored on both sides:
 * [0,3] as [0,-1] is [0,3]. */
static bool infer_size(const Shape *shape, int64_t product, bool has_zero, int64_t *size, Status *status) {
  int64_t elements = 1;
  bool skipped = false;
  for (int i = 0; i < shape->rank; i++) {
    int64_t length = shape_dim(shape, i);
    if (length == 0 && has_zero) {
      skipped = true;
    } else if (__builtin_mul_overflow(elements, length, &elements)) {
      return status_invalid(status,
                            "Reshape cannot infer the missing input size for an empty tensor of that shape");
    }
  }
  if (!skipped && elements % product != 0) {
    return status_invalid(status,
                          "Input to reshape is a tensor with %lld values, but the requested shape requires a "
                          "multiple of %lld",
                          (long long)elements, (long long)product);
  }
  *size = elements / product;
  return true;
}

/* The requested sizes; one of them may be -1, which is computed. */
static bool requested_shape(const Tensor *tensor, const Tensor *sizes, int64_t *dims, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(sizes)) {
    return status_invalid(status, "sizes input must be 1-D, not %s", shape_text(&sizes->shape, text));
  }
  TRY(array_read_ints(sizes, dims, status));
  int rank = (int)tensor_num_elements(sizes), unknown = -1;
  int64_t product = 1; /* of the given sizes, without zeros */
  bool overflow = false, has_zero = false;
  for (int i = 0; i < rank; i++) {
    if (dims[i] == -1) {
      if (unknown >= 0) {
        return status_invalid(status, "Only one input size may be -1, not both %d and %d", unknown, i);
      }
      unknown = i;
    } else if (dims[i] < 0) {
      return status_invalid(status, "Size %d must be non-negative, not %lld", i, (long long)dims[i]);
    } else if (dims[i] == 0) {
      has_zero = true;
    } else {
      overflow = __builtin_mul_overflow(product, dims[i], &product) || overflow;
    }
  }
  if (unknown < 0) return true;
  if (overflow) {
    dims[unknown] = 1; /* the others alone are too large, which making the shape reports */
    return true;
  }
  return infer_size(&tensor->shape, product, has_zero, &dims[unknown], status);
}

bool reshape_to_sizes(KernelContext *context, Status *status) {
  const Tensor *tensor = context->inputs[0], *sizes = context->inputs[1];
  int64_t dims[SHAPE_MAX_RANK];
  Shape shape = {0};
  TRY(requested_shape(tensor, sizes, dims, status));
  TRY(shape_set(&shape, (int)tensor_num_elements(sizes), dims, status));
  bool ok;
  if (shape_num_elements(&shape) != tensor_num_elements(tensor)) {
    ok = status_invalid(status,
                        "Input to reshape is a tensor with %lld values, but the requested shape has %lld",
                        (long long)tensor_num_elements(tensor), (long long)shape_num_elements(&shape));
  } else {
    ok = kernel_set_output(context, 0, tensor, &shape, status);
  }
  shape_clear(&shape);
  return ok;
}

/* The number of elements as far as it is known: a product, times one unknown size if `unknown` is its index.
 * *usable is false if several sizes are unknown. */
static bool partial_count(InferenceContext *c, ShapeHandle shape, DimHandle *product, int *unknown,
                          bool *usable, Status *status) {
  *unknown = -1;
  TRY(dim_ok(shape_num_elements_of(c, shape), product, status));
  if (dim_known(*product)) return true;
  TRY(dim_ok(dim_make(c, 1), product, status));
  for (int i = 0; i < shape_rank(shape); i++) {
    DimHandle size = shape_dim_of(c, shape, i);
    if (dim_known(size)) {
      TRY(dim_multiply(c, *product, size, product, status));
    } else if (*unknown >= 0) {
      *usable = false;
    } else {
      *unknown = i;
    }
  }
  return true;
}

static bool refuse_reshape(ShapeHandle out, int64_t elements_in, int64_t elements_out, Status *status) {
  StrBuf text = {0};
  shape_handle_print(out, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "Cannot reshape a tensor with %lld elements to shape %s (%lld elements)",
                   (long long)elements_in, strbuf_text(&text), (long long)elements_out);
  }
  strbuf_free(&text);
  return false;
}

bool shape_of_reshape(InferenceContext *c, Status *status) {
  ShapeHandle in = shape_input(c, 0), out;
  TRY(shape_from_input_tensor(c, 1, &out, status));
  shape_set_output(c, 0, out);
  if (!shape_rank_known(in) || !shape_rank_known(out)) return true;
  DimHandle count_in, count_out, inferred;
  int unknown_in, unknown_out;
  bool usable = true;
  TRY(partial_count(c, out, &count_out, &unknown_out, &usable, status));
  TRY(partial_count(c, in, &count_in, &unknown_in, &usable, status));
  if (!usable) return true;
  if (unknown_in < 0 && unknown_out < 0) {
    if (dim_value(count_in) == dim_value(count_out)) return true;
    return refuse_reshape(out, dim_value(count_in), dim_value(count_out), status);
  }
  if (unknown_in < 0) {
    if (dim_value(count_out) <= 0) return true;
    TRY(dim_divide(c, count_in, dim_value(count_out), true, &inferred, status));
    TRY(shape_replace_dim(c, out, unknown_out, inferred, &out, status));
  } else if (unknown_out < 0) {
    /* Adds nothing to the output, but checks that the input can have that many elements. */
    if (dim_value(count_in) == 0) return true;
    TRY(dim_divide(c, count_out, dim_value(count_in), true, &inferred, status));
  } else if (dim_value(count_in) == dim_value(count_out)) {
    TRY(shape_replace_dim(c, out, unknown_out, shape_dim_of(c, in, unknown_in), &out, status));
  }
  shape_set_output(c, 0, out);
  return true;
}
