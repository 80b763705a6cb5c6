#include "tensor/dtype.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tensor/tensor.h"

typedef enum DtypeKind {
  KIND_FLOATING,
  KIND_INTEGER,
  KIND_COMPLEX,
  KIND_QUANTIZED,
  KIND_BOOL,
  KIND_STORAGE,
  KIND_OTHER
} DtypeKind;

typedef struct DtypeInfo {
  const char *name, *ref_name, *enum_name, *ref_enum_name;
  size_t size;
  DtypeKind kind;
} DtypeInfo;

#define INFO(enum_name, name, size, kind) \
  [enum_name] = {name, name "_ref", #enum_name, #enum_name "_REF", size, kind}

static const DtypeInfo kInfo[NUM_DTYPES] = {
    INFO(DT_FLOAT, "float", 4, KIND_FLOATING),
    INFO(DT_DOUBLE, "double", 8, KIND_FLOATING),
    INFO(DT_INT32, "int32", 4, KIND_INTEGER),
    INFO(DT_UINT8, "uint8", 1, KIND_INTEGER),
    INFO(DT_INT16, "int16", 2, KIND_INTEGER),
    INFO(DT_INT8, "int8", 1, KIND_INTEGER),
    INFO(DT_STRING, "string", sizeof(TString), KIND_OTHER),
    INFO(DT_COMPLEX64, "complex64", 8, KIND_COMPLEX),
    INFO(DT_INT64, "int64", 8, KIND_INTEGER),
    INFO(DT_BOOL, "bool", 1, KIND_BOOL),
    INFO(DT_QINT8, "qint8", 1, KIND_QUANTIZED),
    INFO(DT_QUINT8, "quint8", 1, KIND_QUANTIZED),
    INFO(DT_QINT32, "qint32", 4, KIND_QUANTIZED),
    INFO(DT_BFLOAT16, "bfloat16", 2, KIND_FLOATING),
    INFO(DT_QINT16, "qint16", 2, KIND_QUANTIZED),
    INFO(DT_QUINT16, "quint16", 2, KIND_QUANTIZED),
    INFO(DT_UINT16, "uint16", 2, KIND_INTEGER),
    INFO(DT_COMPLEX128, "complex128", 16, KIND_COMPLEX),
    INFO(DT_HALF, "half", 2, KIND_FLOATING),
    INFO(DT_RESOURCE, "resource", sizeof(TensorObject *), KIND_OTHER),
    INFO(DT_VARIANT, "variant", sizeof(TensorObject *), KIND_OTHER),
    INFO(DT_UINT32, "uint32", 4, KIND_INTEGER),
    INFO(DT_UINT64, "uint64", 8, KIND_INTEGER),
    INFO(DT_FLOAT8_E5M2, "float8_e5m2", 1, KIND_STORAGE),
    INFO(DT_FLOAT8_E4M3FN, "float8_e4m3fn", 1, KIND_STORAGE),
    INFO(DT_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz", 1, KIND_STORAGE),
    INFO(DT_FLOAT8_E4M3B11FNUZ, "float8_e4m3b11fnuz", 1, KIND_STORAGE),
    INFO(DT_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz", 1, KIND_STORAGE),
    INFO(DT_INT4, "int4", 1, KIND_STORAGE),
    INFO(DT_UINT4, "uint4", 1, KIND_STORAGE),
    INFO(DT_INT2, "int2", 1, KIND_STORAGE),
    INFO(DT_UINT2, "uint2", 1, KIND_STORAGE),
    INFO(DT_FLOAT4_E2M1FN, "float4_e2m1fn", 1, KIND_STORAGE),
};

static const DtypeInfo *info_of(int dtype) {
  int base = dtype_base(dtype);
  return base > DT_INVALID && base < NUM_DTYPES ? &kInfo[base] : NULL;
}

static bool is_kind(int dtype, DtypeKind kind) {
  const DtypeInfo *info = info_of(dtype);
  return info && info->kind == kind;
}

int dtype_ref(int dtype) { return dtype_is_ref(dtype) ? dtype : dtype + DT_REF; }
bool dtype_is_valid(int dtype) { return info_of(dtype) != NULL; }

const char *dtype_name(int dtype) {
  const DtypeInfo *info = info_of(dtype);
  if (!info) return "invalid";
  return dtype_is_ref(dtype) ? info->ref_name : info->name;
}

const char *dtype_enum_name(int dtype) {
  const DtypeInfo *info = info_of(dtype);
  if (!info) return "DT_INVALID";
  return dtype_is_ref(dtype) ? info->ref_enum_name : info->enum_name;
}

int dtype_from_name(Str name) {
  static const char ref_suffix[] = "_ref";
  size_t suffix = sizeof ref_suffix - 1;
  if (name.length > suffix && memcmp(name.data + name.length - suffix, ref_suffix, suffix) == 0) {
    int base = dtype_from_name((Str){name.data, name.length - suffix});
    return base == DT_INVALID || dtype_is_ref(base) ? DT_INVALID : base + DT_REF;
  }
  if (str_equal_text(name, "float32")) return DT_FLOAT;
  if (str_equal_text(name, "float64")) return DT_DOUBLE;
  if (str_equal_text(name, "float16")) return DT_HALF;
  for (int dtype = 1; dtype < NUM_DTYPES; dtype++) {
    if (str_equal_text(name, kInfo[dtype].name)) return dtype;
  }
  return DT_INVALID;
}

size_t dtype_size(int dtype) {
  const DtypeInfo *info = info_of(dtype);
  return info ? info->size : 0;
}

bool dtype_is_floating(int dtype) { return is_kind(dtype, KIND_FLOATING); }
bool dtype_is_integer(int dtype) { return is_kind(dtype, KIND_INTEGER); }
bool dtype_is_complex(int dtype) { return is_kind(dtype, KIND_COMPLEX); }
bool dtype_is_quantized(int dtype) { return is_kind(dtype, KIND_QUANTIZED); }
bool dtype_is_pod(int dtype) { return dtype_is_valid(dtype) && !is_kind(dtype, KIND_OTHER); }

/* --- 16-bit floats, and smaller ones --- */

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

float half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
  if (exponent == 0x1f) return float_of_bits(sign | 0x7f800000 | mantissa << 13);
  if (exponent > 0) return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  float magnitude = (float)mantissa * 0x1p-24f; /* subnormal or zero; exact */
  return float_of_bits(sign | float_bits(magnitude));
}

uint16_t float_to_half(float value) {
  uint32_t bits = float_bits(value), magnitude = bits & 0x7fffffff;
  uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (uint16_t)(magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x477ff000) return sign | 0x7c00; /* 65520 and above round to infinity */
  uint32_t shift = 13, kept;
  if (magnitude >= 0x38800000) {
    kept = magnitude - (112u << 23);
  } else {
    /* Below 2^-14: the mantissa with its leading one, shifted so that the last bit kept is worth 2^-24. */
    shift = 126 - (magnitude >> 23);
    if (shift > 24) return sign;
    kept = (magnitude & 0x7fffff) | 0x800000;
  }
  uint32_t odd = kept >> shift & 1;
  return sign | (uint16_t)((kept + ((1u << (shift - 1)) - 1) + odd) >> shift);
}

float bfloat16_to_float(uint16_t bfloat16) { return float_of_bits((uint32_t)bfloat16 << 16); }

uint16_t float_to_bfloat16(float value) {
  uint32_t bits = float_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The special values of a format: infinities and NaNs as in IEEE 754, a NaN only where all bits below the
 * sign are set, a NaN only at the code of IEEE 754's -0, or none. */
typedef enum SpecialValues {
  SPECIAL_IEEE,
  SPECIAL_NAN_ALL_ONES,
  SPECIAL_NAN_MINUS_ZERO,
  SPECIAL_NONE
} SpecialValues;

typedef struct Float8Format {
  int exponent_bits, mantissa_bits, bias;
  SpecialValues special;
} Float8Format;

static bool find_float8_format(int dtype, Float8Format *format) {
  switch (dtype) {
    case DT_FLOAT8_E5M2: *format = (Float8Format){5, 2, 15, SPECIAL_IEEE}; return true;
    case DT_FLOAT8_E4M3FN: *format = (Float8Format){4, 3, 7, SPECIAL_NAN_ALL_ONES}; return true;
    case DT_FLOAT8_E4M3FNUZ: *format = (Float8Format){4, 3, 8, SPECIAL_NAN_MINUS_ZERO}; return true;
    case DT_FLOAT8_E4M3B11FNUZ: *format = (Float8Format){4, 3, 11, SPECIAL_NAN_MINUS_ZERO}; return true;
    case DT_FLOAT8_E5M2FNUZ: *format = (Float8Format){5, 2, 16, SPECIAL_NAN_MINUS_ZERO}; return true;
    case DT_FLOAT4_E2M1FN: *format = (Float8Format){2, 1, 1, SPECIAL_NONE}; return true;
    default: return false;
  }
}

bool dtype_is_float8(int dtype) {
  Float8Format ignored;
  return find_float8_format(dtype, &ignored);
}

float float8_to_float(int dtype, uint8_t bits) {
  Float8Format format;
  if (!find_float8_format(dtype, &format)) return 0;
  int sign_bit = format.exponent_bits + format.mantissa_bits,
      largest_exponent = (1 << format.exponent_bits) - 1;
  int magnitude = bits & ((1 << sign_bit) - 1), mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  int exponent = magnitude >> format.mantissa_bits;
  bool negative = bits >> sign_bit & 1;
  bool minus_zero = negative && magnitude == 0, all_ones = magnitude == (1 << sign_bit) - 1;
  if (format.special == SPECIAL_NAN_MINUS_ZERO && minus_zero) return NAN;
  if (format.special == SPECIAL_NAN_ALL_ONES && all_ones) return NAN;
  float value;
  if (format.special == SPECIAL_IEEE && exponent == largest_exponent) {
    value = mantissa > 0 ? NAN : INFINITY;
  } else {
    int hidden = exponent > 0 ? 1 << format.mantissa_bits : 0;
    value = ldexpf((float)(hidden + mantissa),
                   (exponent > 0 ? exponent : 1) - format.bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

double dtype_lowest(DataType type) {
  switch (type) {
    case DT_FLOAT: return (double)-FLT_MAX;
    case DT_DOUBLE: return -DBL_MAX;
    case DT_HALF: return (double)half_to_float(0xFBFF);
    case DT_BFLOAT16: return (double)bfloat16_to_float(0xFF7F);
    case DT_INT8: return INT8_MIN;
    case DT_INT16: return INT16_MIN;
    case DT_INT32: return INT32_MIN;
    case DT_INT64: return (double)INT64_MIN;
    default: return 0; /* unsigned */
  }
}
