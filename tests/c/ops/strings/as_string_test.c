/* AsString: floats are printed as printf does it, also where their digits are those of an integer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "op_runner.h"

static const double kNumbers[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  1.5,
                                  2.5,
                                  0.25,
                                  0.0000005,
                                  -1e-9,
                                  0.999999,
                                  0.9999999,
                                  9.9999999,
                                  -99.9995,
                                  0.0009765625,
                                  1e5,
                                  123456.789,
                                  1234567.891,
                                  16777216,
                                  1e7,
                                  7e7,
                                  70368744.125,
                                  71e6,
                                  -1e15,
                                  1e22,
                                  1e300,
                                  1e-300,
                                  0.1,
                                  0.2,
                                  0.3,
                                  1.005,
                                  2.675,
                                  0.000244140625,
                                  1e-45,
                                  3.4e38,
                                  (double)NAN,
                                  -(double)INFINITY};
enum { NUMBERS = sizeof kNumbers / sizeof kNumbers[0], RANDOM = 20000 };

static double number_at(int i) {
  if (i < NUMBERS) return kNumbers[i];
  return sin((double)i * i) * pow(10, i % 10);
}

/* A number of the type, and the format with its precision. */
static void check_texts(const char *type, int precision) {
  OpRun run;
  Status status;
  char op[80], want[400];
  status_init(&status);
  snprintf(op, sizeof op, "AsString[T=%s, precision=%d]", type, precision);
  CHECK_OK(op_run_begin(&run, op, &status), status);
  Tensor *x = op_run_input(&run, type[0] == 'f' ? DT_FLOAT : DT_DOUBLE, 1, (int64_t[]){NUMBERS + RANDOM});
  CHECK(x);
  for (int i = 0; i < NUMBERS + RANDOM; i++) tensor_put(x, i, number_at(i));
  CHECK_OK(op_run_compute(&run, &status), status);
  for (int i = 0; status.code == CODE_OK && i < NUMBERS + RANDOM; i++) {
    Str text = tstring_view(&tensor_strings(&run.outputs[0])[i]);
    int length = snprintf(want, sizeof want, "%.*f", precision < 0 ? 6 : precision, tensor_get(x, i));
    CHECK_CONTEXT("%s: %.17g", op, tensor_get(x, i));
    CHECK(text.length == (size_t)length && memcmp(text.data, want, text.length) == 0);
  }
  op_run_end(&run);
}

TEST(floats_are_printed_as_by_printf) {
  for (int precision = -1; precision < 12; precision++) {
    check_texts("float", precision);
    check_texts("double", precision);
  }
}

TEST(notation_width_and_fill) {
  op_gives("AsString[T=float, scientific=true, precision=2]", "float[2] 1234.5 -0.5",
           "string[2] 1.23e+03 -5.00e-01");
  op_gives("AsString[T=float, shortest=true]", "float[3] 1234.5 -0.5 1e-7", "string[3] 1234.5 -0.5 1e-07");
  op_gives("AsString[T=double, width=6, precision=1, fill=0]", "double[2] 2.5 -2.5",
           "string[2] 0002.5 -002.5");
  op_gives("AsString[T=float, fill=+]", "float[2] 2.5 -2.5", "string[2] +2.500000 -2.500000");
  op_gives("AsString[T=complex64, precision=1]", "complex64[1] 1.5-2i", "string[1] (1.5,-2.0)");
  op_gives("AsString[T=int32, width=4, fill=0]", "int32[2] 7 -7", "string[2] 0007 -007");
  op_gives("AsString[T=uint64]", "uint64[1] 7", "string[1] 7");
  op_gives("AsString[T=bool]", "bool[2] true false", "string[2] true false");
}
