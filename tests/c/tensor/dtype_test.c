#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "tensor/tensor.h"

/* TensorFlow's numbers, names and sizes (types.proto, types.cc). */
static const struct {
  int number;
  const char *name, *enum_name;
  int size;  /* -1: not plain bytes */
  char kind; /* f, i, c, q or another */
} kTypes[] = {
    {1, "float", "DT_FLOAT", 4, 'f'},
    {2, "double", "DT_DOUBLE", 8, 'f'},
    {3, "int32", "DT_INT32", 4, 'i'},
    {4, "uint8", "DT_UINT8", 1, 'i'},
    {5, "int16", "DT_INT16", 2, 'i'},
    {6, "int8", "DT_INT8", 1, 'i'},
    {7, "string", "DT_STRING", -1, ' '},
    {8, "complex64", "DT_COMPLEX64", 8, 'c'},
    {9, "int64", "DT_INT64", 8, 'i'},
    {10, "bool", "DT_BOOL", 1, ' '},
    {11, "qint8", "DT_QINT8", 1, 'q'},
    {12, "quint8", "DT_QUINT8", 1, 'q'},
    {13, "qint32", "DT_QINT32", 4, 'q'},
    {14, "bfloat16", "DT_BFLOAT16", 2, 'f'},
    {15, "qint16", "DT_QINT16", 2, 'q'},
    {16, "quint16", "DT_QUINT16", 2, 'q'},
    {17, "uint16", "DT_UINT16", 2, 'i'},
    {18, "complex128", "DT_COMPLEX128", 16, 'c'},
    {19, "half", "DT_HALF", 2, 'f'},
    {20, "resource", "DT_RESOURCE", -1, ' '},
    {21, "variant", "DT_VARIANT", -1, ' '},
    {22, "uint32", "DT_UINT32", 4, 'i'},
    {23, "uint64", "DT_UINT64", 8, 'i'},
    {24, "float8_e5m2", "DT_FLOAT8_E5M2", 1, ' '},
    {25, "float8_e4m3fn", "DT_FLOAT8_E4M3FN", 1, ' '},
    {26, "float8_e4m3fnuz", "DT_FLOAT8_E4M3FNUZ", 1, ' '},
    {27, "float8_e4m3b11fnuz", "DT_FLOAT8_E4M3B11FNUZ", 1, ' '},
    {28, "float8_e5m2fnuz", "DT_FLOAT8_E5M2FNUZ", 1, ' '},
    {29, "int4", "DT_INT4", 1, ' '},
    {30, "uint4", "DT_UINT4", 1, ' '},
    {31, "int2", "DT_INT2", 1, ' '},
    {32, "uint2", "DT_UINT2", 1, ' '},
    {33, "float4_e2m1fn", "DT_FLOAT4_E2M1FN", 1, ' '},
};

TEST(every_type_has_its_name_size_and_kind) {
  for (size_t i = 0; i < sizeof kTypes / sizeof *kTypes; i++) {
    int type = kTypes[i].number;
    char text[64];
    CHECK_CONTEXT("%s", kTypes[i].name);
    CHECK_STR_EQ(dtype_name(type), kTypes[i].name);
    CHECK_STR_EQ(dtype_enum_name(type), kTypes[i].enum_name);
    CHECK_INT_EQ(dtype_from_name(str_of(kTypes[i].name)), type);
    snprintf(text, sizeof text, "%s_ref", kTypes[i].name);
    CHECK_STR_EQ(dtype_name(type + 100), text);
    CHECK_INT_EQ(dtype_from_name(str_of(text)), type + 100);
    snprintf(text, sizeof text, "%s_REF", kTypes[i].enum_name);
    CHECK_STR_EQ(dtype_enum_name(type + 100), text);
    CHECK(dtype_is_valid(type) && dtype_is_valid(type + 100));
    CHECK(!dtype_is_ref(type) && dtype_is_ref(type + 100));
    CHECK_INT_EQ(dtype_base(type + 100), type);
    CHECK_INT_EQ(dtype_base(type), type);
    CHECK_INT_EQ(dtype_ref(type), type + 100);
    CHECK_INT_EQ(dtype_ref(type + 100), type + 100);
    CHECK_INT_EQ(dtype_is_pod(type), kTypes[i].size > 0);
    if (kTypes[i].size > 0) CHECK_INT_EQ(dtype_size(type), kTypes[i].size);
    CHECK_INT_EQ(dtype_is_floating(type), kTypes[i].kind == 'f');
    CHECK_INT_EQ(dtype_is_integer(type), kTypes[i].kind == 'i');
    CHECK_INT_EQ(dtype_is_complex(type), kTypes[i].kind == 'c');
    CHECK_INT_EQ(dtype_is_quantized(type), kTypes[i].kind == 'q');
    CHECK(dtype_is_float8(type) ==
          (strncmp(kTypes[i].name, "float8_", 7) == 0 || strncmp(kTypes[i].name, "float4_", 7) == 0));
  }
  CHECK_INT_EQ(dtype_size(DT_STRING), sizeof(TString));
  CHECK_INT_EQ(dtype_size(DT_RESOURCE), sizeof(void *));
}

TEST(other_names_and_numbers) {
  CHECK_INT_EQ(sizeof kTypes / sizeof *kTypes, NUM_DTYPES - 1);
  CHECK_INT_EQ(dtype_from_name(str_of("float32")), DT_FLOAT);
  CHECK_INT_EQ(dtype_from_name(str_of("float64")), DT_DOUBLE);
  CHECK_INT_EQ(dtype_from_name(str_of("float16")), DT_HALF);
  CHECK_INT_EQ(dtype_from_name(str_of("float16_ref")), DT_HALF + DT_REF);
  static const char *const wrong[] = {"",     "Float",         "int",     "int32 ", "DT_FLOAT",
                                      "_ref", "float_ref_ref", "invalid", "int3"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK_INT_EQ(dtype_from_name(str_of(wrong[i])), DT_INVALID);
  static const int invalid[] = {0, 34, 99, 100, 134, 200, 1000, -1, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
    CHECK(!dtype_is_valid(invalid[i]));
    CHECK_STR_EQ(dtype_name(invalid[i]), "invalid");
    CHECK_STR_EQ(dtype_enum_name(invalid[i]), "DT_INVALID");
    CHECK_INT_EQ(dtype_size(invalid[i]), 0);
    CHECK(!dtype_is_pod(invalid[i]) && !dtype_is_floating(invalid[i]));
  }
}

/* The value of a binary float of `exponent_bits` and `mantissa_bits`, by the definition. */
static double decode(uint32_t bits, int exponent_bits, int mantissa_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1;
  double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  double mantissa = bits & ((1u << mantissa_bits) - 1);
  if (exponent == (1 << exponent_bits) - 1) return mantissa > 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * ldexp(1 + ldexp(mantissa, -mantissa_bits), exponent - bias);
}

TEST(all_halves_and_bfloats_convert_and_come_back) {
  for (uint32_t bits = 0; bits < 65536; bits++) {
    double half = decode(bits, 5, 10), bfloat = decode(bits, 8, 7);
    float as_half = half_to_float((uint16_t)bits), as_bfloat = bfloat16_to_float((uint16_t)bits);
    CHECK_CONTEXT("bits %04x", bits);
    CHECK_NEAR(as_half, half, 0);
    CHECK_NEAR(as_bfloat, bfloat, 0);
    CHECK_INT_EQ(signbit(as_half) != 0, bits >> 15);
    if (!isnan(half)) CHECK_INT_EQ(float_to_half(as_half), bits);
    if (!isnan(bfloat)) CHECK_INT_EQ(float_to_bfloat16(as_bfloat), bits);
    if (isnan(half)) CHECK(isnan(half_to_float(float_to_half(as_half))));
    if (isnan(bfloat)) CHECK(isnan(bfloat16_to_float(float_to_bfloat16(as_bfloat))));
  }
}

/* `value` rounded to a multiple of the format's last place, ties to even, in double. */
static double round_to(double value, int mantissa_bits, int lowest_exponent, double overflow) {
  if (value == 0 || isinf(value)) return value;
  int exponent;
  frexp(value, &exponent);
  exponent = exponent - 1 < lowest_exponent ? lowest_exponent : exponent - 1;
  double unit = ldexp(1, exponent - mantissa_bits), rounded = nearbyint(value / unit) * unit;
  return fabs(rounded) >= overflow ? copysign(INFINITY, value) : rounded;
}

static void check_rounding(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  CHECK_CONTEXT("float %a", (double)value);
  float half = half_to_float(float_to_half(value)), bfloat = bfloat16_to_float(float_to_bfloat16(value));
  if (isnan(value)) {
    CHECK(isnan(half) && isnan(bfloat));
    return;
  }
  CHECK_NEAR(half, round_to((double)value, 10, -14, 0x1p16), 0);
  CHECK_NEAR(bfloat, round_to((double)value, 7, -126, 0x1p128), 0);
  CHECK_INT_EQ(signbit(half) != 0, bits >> 31);
  CHECK_INT_EQ(signbit(bfloat) != 0, bits >> 31);
}

TEST(floats_round_to_nearest_even) {
  /* Every half, the middle to the next one, and the floats around both. */
  for (uint32_t half = 0; half <= 0x7c00; half++) {
    uint32_t bits;
    float value = (float)decode(half, 5, 10), next = half < 0x7bff ? (float)decode(half + 1, 5, 10) : 65536;
    float middle = value + (next - value) / 2;
    for (int64_t step = -2; step <= 2; step++) {
      memcpy(&bits, &value, 4);
      check_rounding((uint32_t)((int64_t)bits + step));
      memcpy(&bits, &middle, 4);
      check_rounding((uint32_t)((int64_t)bits + step) ^ 0x80000000);
    }
  }
  /* Floats of all sizes, with mantissas around the places where bfloat16 rounds. */
  for (uint32_t high = 0; high < 65536; high++) {
    static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    for (int i = 0; i < 6; i++) check_rounding(high << 16 | low[i]);
  }
}
