/* Cast: every number type to every other, and bool.
 *
 * C leaves the conversion of a floating value that the integer type cannot hold undefined, and WebAssembly
 * saturates. Here every platform gives the results of TensorFlow's C++ on x86: int32 and int64 become their
 * smallest value (NaN too); the 8 and 16-bit types take the low bits of the conversion to int32, uint32 those
 * of the one to int64; uint64 equals int64 below 2^63 and is correct above. Complex to real drops the
 * imaginary part.
 */
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "simd/simd.h"

typedef void Convert(const void *from, void *to, int64_t n);

#define TEMPLATE "ops/math/cast_from.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

/* Of types other than half and bfloat16. */
static Convert *convert_between(DataType from, DataType to) {
  switch (from) {
    case DT_FLOAT: return convert_to_f32(to);
    case DT_DOUBLE: return convert_to_f64(to);
    case DT_INT32: return convert_to_i32(to);
    case DT_INT64: return convert_to_i64(to);
    case DT_UINT8: return convert_to_u8(to);
    case DT_INT8: return convert_to_i8(to);
    case DT_INT16: return convert_to_i16(to);
    case DT_UINT16: return convert_to_u16(to);
    case DT_UINT32: return convert_to_u32(to);
    case DT_UINT64: return convert_to_u64(to);
    case DT_BOOL: return convert_to_u8(to); /* a byte of 0 or 1 */
    default: return NULL;
  }
}

static DataType real_type(DataType type) {
  return type == DT_COMPLEX64 ? DT_FLOAT : type == DT_COMPLEX128 ? DT_DOUBLE : type;
}

/* Half and bfloat16 become float, and are made of float. */
static DataType wide_type(DataType type) { return half_precision(type) ? DT_FLOAT : type; }

typedef struct CastState {
  DataType from, to;
  Convert *convert;   /* between the wide types of the real types; NULL if `from` is `to` */
  int truncated_bits; /* of the mantissa, cleared before a narrowing conversion with Truncate = true */
} CastState;

static int mantissa_bits(DataType type) {
  return type == DT_DOUBLE ? 52 : type == DT_FLOAT ? 23 : type == DT_HALF ? 10 : type == DT_BFLOAT16 ? 7 : 0;
}

static bool cast_construct(const KernelConstruction *construction, void *memory, Status *status) {
  CastState *state = memory;
  bool truncate;
  TRY(node_attr_type(construction->node, "SrcT", &state->from, status));
  TRY(node_attr_type(construction->node, "DstT", &state->to, status));
  TRY(node_attr_bool(construction->node, "Truncate", &truncate, status));
  if (state->from == state->to) return true;
  DataType from = real_type(state->from), to = real_type(state->to);
  state->convert = convert_between(wide_type(from), wide_type(to));
  if (!state->convert) {
    return status_set(status, CODE_UNIMPLEMENTED, "Cast %s to %s is not supported", dtype_name(state->from),
                      dtype_name(state->to));
  }
  /* Among conversions to bfloat16, TensorFlow truncates only float; the others round. */
  bool truncates =
      truncate && (from == DT_DOUBLE || from == DT_FLOAT) && (to != DT_BFLOAT16 || state->from == DT_FLOAT);
  if (truncates && dtype_is_floating(to) && mantissa_bits(to) < mantissa_bits(from)) {
    state->truncated_bits = mantissa_bits(from) - mantissa_bits(to);
  }
  return true;
}

typedef struct CastJob {
  const CastState *state;
  const char *from;
  char *to;
} CastJob;

static void clear_low_bits(DataType type, void *values, int64_t n, int bits) {
  for (int64_t i = 0; i < n; i++) {
    uint64_t wide;
    uint32_t narrow;
    if (type == DT_DOUBLE) {
      memcpy(&wide, (char *)values + i * 8, 8);
      wide &= ~(((uint64_t)1 << bits) - 1);
      memcpy((char *)values + i * 8, &wide, 8);
    } else {
      memcpy(&narrow, (char *)values + i * 4, 4);
      narrow &= ~(((uint32_t)1 << bits) - 1);
      memcpy((char *)values + i * 4, &narrow, 4);
    }
  }
}

enum { PIECE = 256 };

/* Up to PIECE elements of the real types. */
static void convert_piece(const CastState *state, const void *from, void *to, int64_t n) {
  DataType from_type = real_type(state->from), to_type = real_type(state->to);
  float wide[PIECE], result[PIECE];
  const void *source = from;
  if (half_precision(from_type)) half_precision_widen(from_type, from, wide, n), source = wide;
  state->convert(source, half_precision(to_type) ? result : to, n);
  if (half_precision(to_type)) half_precision_narrow(to_type, result, to, n);
}

static void cast_plain(void *arg, int64_t begin, int64_t end) {
  const CastJob *job = arg;
  const CastState *state = job->state;
  int64_t from_size = (int64_t)dtype_size(state->from), to_size = (int64_t)dtype_size(state->to);
  if (!half_precision(state->from) && !half_precision(state->to)) {
    state->convert(job->from + begin * from_size, job->to + begin * to_size, end - begin);
    return;
  }
  for (int64_t at = begin; at < end; at += PIECE) {
    int64_t n = end - at < PIECE ? end - at : PIECE;
    convert_piece(state, job->from + at * from_size, job->to + at * to_size, n);
  }
}

/* Copies n values of a real type, which are next to each other or parts of complex numbers. The sizes of
 * these are constants below, so that no copy is a call. */
static void copy_values(char *to, size_t to_step, const char *from, size_t from_step, size_t size,
                        int64_t n) {
  if (to_step == size && from_step == size) {
    memcpy(to, from, (size_t)n * size);
  } else if (size == sizeof(float)) {
    for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * to_step, from + (size_t)i * from_step, 4);
  } else {
    for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * to_step, from + (size_t)i * from_step, 8);
  }
}

/* For complex types, or if bits must be cleared first. */
static void cast_piecewise(void *arg, int64_t begin, int64_t end) {
  const CastJob *job = arg;
  const CastState *state = job->state;
  DataType from = real_type(state->from), to = real_type(state->to);
  size_t from_size = dtype_size(from), to_size = dtype_size(to);
  size_t from_step = dtype_size(state->from), to_step = dtype_size(state->to);
  double source[PIECE], result[PIECE];
  for (int64_t at = begin; at < end; at += PIECE) {
    int64_t n = end - at < PIECE ? end - at : PIECE;
    for (int part = 0; part < (dtype_is_complex(state->to) ? 2 : 1); part++) {
      char *to_part = job->to + (size_t)at * to_step + (size_t)part * to_size;
      bool has_part = part == 0 || dtype_is_complex(state->from);
      if (has_part) {
        const char *from_part = job->from + (size_t)at * from_step + (size_t)part * from_size;
        copy_values((char *)source, from_size, from_part, from_step, from_size, n);
        if (state->truncated_bits > 0) clear_low_bits(from, source, n, state->truncated_bits);
        convert_piece(state, source, result, n);
      } else {
        memset(result, 0, (size_t)n * to_size);
      }
      copy_values(to_part, to_step, (char *)result, to_size, to_size, n);
    }
  }
}

static bool cast(KernelContext *context, Status *status) {
  const CastState *state = context->state;
  const Tensor *x = context->inputs[0];
  if (state->from == state->to) return kernel_set_output(context, 0, x, NULL, status);
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  CastJob job = {state, x->data, out->data};
  bool pieces = dtype_is_complex(state->from) || dtype_is_complex(state->to) || state->truncated_bits > 0;
  parallel_work(context->parallel, tensor_num_elements(x), 1, pieces ? cast_piecewise : cast_plain, &job);
  return true;
}

/* Casts back to the source type; integers and bools have no gradient. */
static bool cast_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType from, to;
  TRY(node_attr_type(request->node, "SrcT", &from, status));
  TRY(node_attr_type(request->node, "DstT", &to, status));
  bool flows =
      (dtype_is_floating(from) || dtype_is_complex(from)) && (dtype_is_floating(to) || dtype_is_complex(to));
  strbuf_printf(text,
                "CastGradient[SrcT:type, DstT:type](x:SrcT, dy:DstT) -> (dx:SrcT) {\n"
                "  dx = %s\n"
                "  return dx = dx:y:0\n"
                "}\n",
                flows ? "Cast[SrcT=$DstT, DstT=$SrcT](dy)" : "ZerosLike[T=$SrcT](x)");
  return strbuf_ok(text, status);
}

const OpRegistration kOpCast = {
    .name = "Cast",
    .inputs = {"x: SrcT"},
    .outputs = {"y: DstT"},
    .attrs = {"SrcT: type", "DstT: type", "Truncate: bool = false"},
    .shape = shape_unchanged,
    .gradient_fn = cast_gradient,
    .state_size = sizeof(CastState),
    .construct = cast_construct,
    .kernels = {{DT_INVALID, cast}},
};
