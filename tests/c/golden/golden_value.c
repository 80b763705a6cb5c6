#include "golden_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "harness.h"

/* A unit in the last place of `value` as an element of `dtype`; for 0 that of the smallest normal number. */
static double ulp(DataType dtype, double value) {
  int digits = dtype == DT_DOUBLE || dtype == DT_COMPLEX128 ? 53
               : dtype == DT_HALF                           ? 11
               : dtype == DT_BFLOAT16                       ? 8
                                                            : 24;
  int smallest = dtype == DT_DOUBLE || dtype == DT_COMPLEX128 ? -1021 : dtype == DT_HALF ? -13 : -125;
  int exponent;
  frexp(value, &exponent);
  return ldexp(1, (value == 0 || exponent < smallest ? smallest : exponent) - digits);
}

typedef struct Parts {
  double real, imaginary;
} Parts;

static Parts parts_at(const Tensor *tensor, int64_t i) {
  if (tensor->dtype == DT_COMPLEX64) return (Parts){tensor_f32(tensor)[2 * i], tensor_f32(tensor)[2 * i + 1]};
  if (tensor->dtype == DT_COMPLEX128)
    return (Parts){tensor_f64(tensor)[2 * i], tensor_f64(tensor)[2 * i + 1]};
  return (Parts){tensor_double_at(tensor, i), 0};
}

static bool near(double got, double want, double tolerance) {
  return isnan(want) ? isnan(got) : isinf(want) ? got == want : fabs(got - want) <= tolerance;
}

static bool element_is(const Tensor *got, const Tensor *want, const Tfcore__GoldenValue *value,
                       const Tensor *magnitude, int64_t i) {
  if (want->dtype == DT_STRING) {
    Str a = tstring_view(&tensor_strings(got)[i]), b = tstring_view(&tensor_strings(want)[i]);
    return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
  }
  size_t size = dtype_size(want->dtype);
  if (memcmp((const char *)got->data + (size_t)i * size, (const char *)want->data + (size_t)i * size, size) ==
      0)
    return true;
  if (!dtype_is_floating(want->dtype) && !dtype_is_complex(want->dtype)) return false;
  Parts a = parts_at(got, i), b = parts_at(want, i);
  double size_of_want = hypot(b.real, b.imaginary), tolerance = 0;
  if (isfinite(size_of_want)) {
    tolerance = fmax(value->ulps * ulp(want->dtype, size_of_want), value->relative * size_of_want);
    if (value->of_magnitude != 0)
      tolerance =
          fmax(tolerance, value->of_magnitude *
                              tensor_double_at(magnitude, tensor_num_elements(magnitude) == 1 ? 0 : i));
  }
  return near(a.real, b.real, tolerance) && near(a.imaginary, b.imaginary, tolerance);
}

static bool same_shape(const Tensor *got, const Tensor *want) {
  if (!CHECK_STR_EQ(dtype_name(got->dtype), dtype_name(want->dtype))) return false;
  char got_text[SHAPE_TEXT_CAPACITY], want_text[SHAPE_TEXT_CAPACITY];
  return CHECK_STR_EQ(shape_text(&got->shape, got_text), shape_text(&want->shape, want_text));
}

/* Reports element `i`, with all digits of both values. */
static bool differs(const Tensor *got, const Tensor *want, const Tfcore__GoldenValue *value, int64_t i) {
  if (want->dtype == DT_STRING) {
    Str strings[] = {tstring_view(&tensor_strings(got)[i]), tstring_view(&tensor_strings(want)[i])};
    StrBuf texts[2] = {{0}};
    for (int k = 0; k < 2; k++) strbuf_append_c_escaped(&texts[k], strings[k].data, strings[k].length);
    harness_fail(__FILE__, __LINE__, "element %" PRId64 " of %s is \"%s\", not \"%s\"", i, value->name,
                 strbuf_text(&texts[0]), strbuf_text(&texts[1]));
    for (int k = 0; k < 2; k++) strbuf_free(&texts[k]);
    return false;
  }
  Parts a = parts_at(got, i), b = parts_at(want, i);
  if (dtype_is_complex(want->dtype))
    return harness_fail(__FILE__, __LINE__, "element %" PRId64 " of %s is %.17g%+.17gi, not %.17g%+.17gi", i,
                        value->name, a.real, a.imaginary, b.real, b.imaginary);
  return harness_fail(__FILE__, __LINE__, "element %" PRId64 " of %s is %.17g, not %.17g", i, value->name,
                      a.real, b.real);
}

bool golden_value_is(const Tensor *got, const Tfcore__GoldenValue *value) {
  if (!value->tensor) return true;
  Tensor want = {0}, magnitude = {0};
  Status status;
  status_init(&status);
  bool ok =
      CHECK_OK(tensor_from_proto(value->tensor, &want, &status), status) &&
      (!value->magnitude || CHECK_OK(tensor_from_proto(value->magnitude, &magnitude, &status), status)) &&
      CHECK((value->of_magnitude != 0) == (value->magnitude != NULL)) && same_shape(got, &want);
  if (ok && value->magnitude && tensor_num_elements(&magnitude) != 1)
    ok = CHECK_INT_EQ(tensor_num_elements(&magnitude), tensor_num_elements(&want));
  for (int64_t i = 0; ok && i < tensor_num_elements(&want); i++)
    ok = element_is(got, &want, value, &magnitude, i) || differs(got, &want, value, i);
  tensor_clear(&want);
  tensor_clear(&magnitude);
  return ok;
}
