/* Functions of complex numbers: at hard points, compared with mpmath
 * (tests/data/oracle/complex_functions.txt, written by tests/oracle/complex_functions.py), and many
 * complex64, with functions of doubles. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op_runner.h"
#include "ops/support/element_types.h"

enum { MOST_UNITS = 4, MAX_POINTS = 64 };

typedef struct Point {
  double argument[2][2], result[2];
} Point;

typedef struct Group {
  bool wide; /* complex128 or complex64 */
  char function[32];
  int num_arguments, count;
  Point points[MAX_POINTS];
} Group;

/* The unit in the last place of `want`, for doubles or floats. */
static double unit_of(double want, bool wide) {
  int exponent, digits = wide ? 53 : 24, lowest = wide ? -1074 : -149;
  frexp(want, &exponent);
  return ldexp(1, exponent - digits > lowest ? exponent - digits : lowest);
}
/* The largest number counts as infinity, so that numbers just below it may become infinite. */
static double distance(double got, double want, bool wide) {
  double largest = wide ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : INFINITY;
  got = fmax(-largest, fmin(largest, got));
  want = fmax(-largest, fmin(largest, want));
  if (signbit(got) != signbit(want) && want != 0)
    return fabs(got / unit_of(want, wide)) + fabs(want / unit_of(want, wide));
  return fabs(got - want) / unit_of(want, wide);
}

/* If the argument has a part that is 0 or infinite, the sign of zeros matters; if one is NaN, Annex G leaves
 * signs of the result open. */
static bool has_nan(const Point *point) {
  return isnan(point->argument[0][0]) || isnan(point->argument[0][1]);
}
static bool is_special(const Point *point) {
  const double *z = point->argument[0];
  return !isfinite(z[0]) || !isfinite(z[1]) || z[0] == 0 || z[1] == 0;
}
static void check_part(double got, const Point *point, int part, bool wide) {
  double want = point->result[part];
  if (has_nan(point) && (want == 0 || isinf(want))) got = copysign(got, want);
  CHECK_NEAR(distance(got, want, wide), 0, MOST_UNITS);
  if (is_special(point) && want == 0) CHECK_INT_EQ(signbit(got) != 0, signbit(want) != 0);
}

static bool has_real_result(const char *function) {
  return strcmp(function, "ComplexAbs") == 0 || strcmp(function, "Angle") == 0;
}

static void check_group(const Group *group) {
  bool wide = group->wide;
  char spec[96];
  const char *type = wide ? "complex128" : "complex64";
  snprintf(spec, sizeof spec, has_real_result(group->function) ? "%s[T=%s, Tout=%s]" : "%s[T=%s]",
           group->function, type, wide ? "double" : "float");
  Status status;
  status_init(&status);
  OpRun run;
  REQUIRE_OK(op_run_begin(&run, spec, &status), status);
  int64_t dims[1] = {group->count};
  for (int k = 0; k < group->num_arguments; k++) {
    Tensor *input = op_run_input(&run, wide ? DT_COMPLEX128 : DT_COMPLEX64, 1, dims);
    REQUIRE(input);
    for (int i = 0; i < group->count; i++) {
      tensor_put(input, i, group->points[i].argument[k][0]);
      tensor_put_imaginary(input, i, group->points[i].argument[k][1]);
    }
  }
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    for (int i = 0; i < group->count; i++) {
      const Point *p = &group->points[i];
      CHECK_CONTEXT("%s of %a %a (%a %a)", spec, p->argument[0][0], p->argument[0][1], p->argument[1][0],
                    p->argument[1][1]);
      check_part(tensor_get(&run.outputs[0], i), p, 0, wide);
      check_part(tensor_get_imaginary(&run.outputs[0], i), p, 1, wide);
    }
  }
  op_run_end(&run);
}

/* Reads the points of the next function; `line` has the first, and afterwards that of the following
 * function. */
static bool read_group(FILE *stream, char line[400], Group *group) {
  *group = (Group){0};
  for (bool more = line[0] != '\0'; more; more = fgets(line, 400, stream)) {
    char type[32], function[32];
    double n[6];
    int count = sscanf(line, "%31s %31s %la %la %la %la %la %la", type, function, &n[0], &n[1], &n[2], &n[3],
                       &n[4], &n[5]) -
                2;
    if (count != 4 && count != 6) return false;
    if (group->count > 0 && strcmp(function, group->function) != 0) return true;
    if (group->count == MAX_POINTS) return false;
    snprintf(group->function, sizeof group->function, "%s", function);
    group->wide = strcmp(type, "complex128") == 0;
    group->num_arguments = count / 2 - 1;
    Point *point = &group->points[group->count++];
    for (int k = 0; k < count - 2; k++) point->argument[k / 2][k % 2] = n[k];
    for (int k = 0; k < 2; k++) point->result[k] = n[count - 2 + k];
  }
  line[0] = '\0';
  return group->count > 0;
}

static Group group;

TEST(complex_functions_are_within_four_units_of_mpmath) {
  FILE *stream = fopen("tests/data/oracle/complex_functions.txt", "rb");
  REQUIRE(stream);
  char line[400] = "";
  int groups = 0;
  REQUIRE(fgets(line, sizeof line, stream));
  while (read_group(stream, line, &group)) {
    groups++;
    check_group(&group);
  }
  fclose(stream);
  CHECK_INT_EQ(groups, 58);
  CHECK_CONTEXT("%s", "");
}

/* By real functions in double, in which squares of floats are exact. */
static double _Complex reference_sqrt(double _Complex z) { return csqrt(z); }
static double _Complex reference_exp(double _Complex z) {
  double e = exp(creal(z)), y = cimag(z);
  return complex_of(e * cos(y), y == 0 ? y : e * sin(y));
}
static double _Complex reference_log(double _Complex z) {
  double x = fabs(creal(z)), y = fabs(cimag(z)), a = fmax(x, y), b = fmin(x, y), square = x * x + y * y;
  bool near = square > 0.5 && square < 2;
  return complex_of((near ? log1p((a - 1) * (a + 1) + b * b) : log(square)) / 2, atan2(cimag(z), creal(z)));
}

/* Many complex64 together: of all exponents, near and on the unit circle, and with zeros between others. */
TEST(complex64_functions_of_many) {
  static const struct {
    const char *spec;
    double _Complex (*function)(double _Complex z);
    double largest; /* real part */
  } kCases[] = {{"Sqrt[T=complex64]", reference_sqrt, INFINITY},
                {"Log[T=complex64]", reference_log, INFINITY},
                {"Exp[T=complex64]", reference_exp, 700}};
  enum { COUNT = 20001 };
  for (size_t k = 0; k < sizeof kCases / sizeof kCases[0]; k++) {
    Status status;
    status_init(&status);
    OpRun run;
    REQUIRE_OK(op_run_begin(&run, kCases[k].spec, &status), status);
    int64_t dims[1] = {COUNT};
    Tensor *input = op_run_input(&run, DT_COMPLEX64, 1, dims);
    REQUIRE(input);
    uint32_t seed = 3;
    for (int i = 0; i < COUNT; i++) {
      double parts[2];
      for (int part = 0; part < 2; part++) {
        seed = seed * 1664525u + 1013904223u;
        double sign = seed & 0x10000 ? -1 : 1;
        if (i % 3 == 0) parts[part] = sign * ldexp(1 + (seed >> 9) * 0x1p-23, (int)(seed >> 17) % 276 - 149);
        else parts[part] = ((double)(seed >> 8) - 0x1p23) * (i % 3 == 1 ? 0x1p-20 : 0x1p-23);
      }
      if (i % 6 == 2) parts[1] = sqrt(1 - parts[0] * parts[0]);
      if (i % 31 == 7) parts[i % 2] = i % 3 ? 0 : -0.0;
      if (fabs(parts[0]) >= kCases[k].largest) parts[0] = fmod(parts[0], 100);
      tensor_put(input, i, parts[0]);
      tensor_put_imaginary(input, i, parts[1]);
    }
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      for (int i = 0; i < COUNT; i++) {
        double x = tensor_get(run.inputs, i), y = tensor_get_imaginary(run.inputs, i);
        double _Complex want = kCases[k].function(complex_of(x, y));
        CHECK_CONTEXT("%s of %a %a", kCases[k].spec, x, y);
        bool right =
            CHECK_NEAR(distance(tensor_get(&run.outputs[0], i), creal(want), false), 0, MOST_UNITS) &&
            CHECK_NEAR(distance(tensor_get_imaginary(&run.outputs[0], i), cimag(want), false), 0, MOST_UNITS);
        if (!right) break;
      }
    }
    op_run_end(&run);
  }
  CHECK_CONTEXT("%s", "");
}
