/* Functions of complex numbers at hard points, compared with mpmath: tests/data/oracle/complex_functions.txt,
 * written by tests/oracle/complex_functions.py. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op_runner.h"

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
  FILE *stream = fopen(TFCORE_SOURCE_DIR "/tests/data/oracle/complex_functions.txt", "rb");
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
