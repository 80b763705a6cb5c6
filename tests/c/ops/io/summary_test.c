/* Summaries compared with TensorFlow's bytes (2.21, in hex), Assert, Print, and strings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

/* The op's only output, a string, in hex. */
static void check_hex(const char *op, const char *inputs, const char *want) {
  Status status;
  OpRun run;
  StrBuf hex = {0};
  status_init(&status);
  CHECK_CONTEXT("%s %s", op, inputs);
  if (CHECK_OK(op_run_begin(&run, op, &status), status) &&
      CHECK_OK(op_run_inputs(&run, inputs, &status), status) &&
      CHECK_OK(op_run_compute(&run, &status), status)) {
    Str bytes = tstring_view(tensor_strings(&run.outputs[0]));
    for (size_t i = 0; i < bytes.length; i++) strbuf_printf(&hex, "%02x", (unsigned char)bytes.data[i]);
    CHECK_STR_EQ(strbuf_text(&hex), want);
  }
  strbuf_free(&hex);
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

TEST(scalars_are_summarised) {
  check_hex("ScalarSummary[T=float]", "string[] a; float[] 1.5", "0a080a0161150000c03f");
  check_hex("ScalarSummary[T=int32]", "string[2] a b; int32[2] 1 300",
            "0a080a0161150000803f0a080a01621500009643");
  check_hex("ScalarSummary[T=half]", "string[] a; half[] 1.5", "0a080a0161150000c03f");
  check_hex("ScalarSummary[T=float]", "string[] a; float[] 0", "0a080a01611500000000");
  check_hex("ScalarSummary[T=float]", "string[0]; float[0]", "");
  op_fails("ScalarSummary[T=float]", "string[2] a b; float[1] 1", CODE_INVALID_ARGUMENT,
           "tags and values are not the same shape: [2] != [1]");
  op_fails("ScalarSummary[T=float]", "string[] a; float[1] 1", CODE_INVALID_ARGUMENT,
           "tags and values are not the same shape: [] != [1] (tag 'a')");
}

TEST(histograms_are_summarised) {
  check_hex("HistogramSummary[T=float]", "string[] h; float[5] 1 2 -3 0 10000000000",
            "0ae7010a01682ae1010900000000000008c011000000205fa0024219000000000000144021000000205fa0024229408c"
            "b5781daf154432580d9cc5a0295509c0"
            "68bc10359a0707c0000000000000000011ea2d819997713d08996919155aed3f2b14facdbe24f03fdc94cd2e8d75ff3f"
            "e011f10c744d0140aa60b87cafc40142"
            "ef03fed58d8b0342ffffffffffffef7f3a580000000000000000000000000000f03f0000000000000000000000000000"
            "f03f0000000000000000000000000000"
            "f03f0000000000000000000000000000f03f0000000000000000000000000000f03f0000000000000000");
  check_hex("HistogramSummary[T=float]", "string[] h; float[0]",
            "0a2b0a01682a2609ffffffffffffef7f11ffffffffffffefff3208ffffffffffffef7f3a080000000000000000");
  check_hex("HistogramSummary[T=float]", "string[] h; float[3] 0",
            "0a420a01682a3d1900000000000008403218000000000000000011ea2d819997713dffffffffffffef7f3a1800000000"
            "00000000000000000000084000000000"
            "00000000");
  check_hex("HistogramSummary[T=int32]", "string[] h; int32[3] 5 5 7",
            "0a87010a01682a8101090000000000001440110000000000001c40190000000000000840210000000000003140290000"
            "000000c05840322821d10e9a768b1240"
            "d8b276a9356614402988ead0c2261b40612f354cd6dd1d40ffffffffffffef7f3a280000000000000000000000000000"
            "00400000000000000000000000000000"
            "f03f0000000000000000");
  check_hex("HistogramSummary[T=int32]", "string[] h; int32[3] -5 0 7",
            "0aa7010a01682aa1010900000000000014c0110000000000001c40190000000000000840210000000000000040290000"
            "0000008052403238d8b276a9356614c0"
            "21d10e9a768b12c0000000000000000011ea2d819997713d2988ead0c2261b40612f354cd6dd1d40ffffffffffffef7f"
            "3a380000000000000000000000000000"
            "f03f0000000000000000000000000000f03f0000000000000000000000000000f03f0000000000000000");
  check_hex("HistogramSummary[T=float]", "string[] h; float[6] 1e-20 -1e-20 1e-12 -1e-12 1e25 -1e25",
            "0a9e010a01682a980109000000202a8b20c511000000202a8b20451900000000000018402940e85aac0e1b614a3238ff"
            "ffffffffffefff4c549f02238315c4"
            "11ea2d81999771bd000000000000000011ea2d819997713d4c549f0223831544ffffffffffffef7f3a38000000000000"
            "0000000000000000f03f000000000000"
            "0000000000000000004000000000000000400000000000000000000000000000f03f");
  op_fails("HistogramSummary[T=float]", "string[] h; float[2] 1 nan", CODE_INVALID_ARGUMENT,
           "Nan in summary histogram for: ");
  op_fails("HistogramSummary[T=float]", "string[] h; float[2] 1 inf", CODE_INVALID_ARGUMENT,
           "Infinity in Histogram for: ");
  op_fails("HistogramSummary[T=float]", "string[1] h; float[2] 1", CODE_INVALID_ARGUMENT,
           "tags must be scalar");
}

/* Sets the bytes of the next input, a vector of strings given in hex. */
static void put_hex(OpRun *run, const char *const *hex, int64_t count) {
  Tensor *tensor = op_run_input(run, DT_STRING, 1, &count);
  Status status;
  status_init(&status);
  for (int64_t i = 0; tensor && i < count; i++) {
    char bytes[64];
    size_t length = strlen(hex[i]) / 2;
    for (size_t k = 0; k < length; k++) {
      char digits[3] = {hex[i][2 * k], hex[i][2 * k + 1], '\0'};
      bytes[k] = (char)strtol(digits, NULL, 16);
    }
    CHECK_OK(tstring_set(&tensor_strings(tensor)[i], bytes, length, &status), status);
  }
}

TEST(summaries_are_merged) {
  static const char *const a[] = {"0a080a0161150000c03f", ""}, *const b[] = {"0a080a0162150000c03f"};
  Status status;
  OpRun run;
  status_init(&status);
  if (CHECK_OK(op_run_begin(&run, "MergeSummary[N=2]", &status), status)) {
    put_hex(&run, a, 2);
    put_hex(&run, b, 1);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      Str bytes = tstring_view(tensor_strings(&run.outputs[0]));
      CHECK_INT_EQ(bytes.length, 20);
      CHECK_MEM_EQ(bytes.data,
                   "\x0a\x08\x0a\x01"
                   "a\x15\0\0\xc0\x3f\x0a\x08\x0a\x01"
                   "b\x15\0\0\xc0\x3f",
                   20);
    }
  }
  op_run_end(&run);
  if (CHECK_OK(op_run_begin(&run, "MergeSummary[N=2]", &status), status)) {
    put_hex(&run, a, 1);
    put_hex(&run, a, 1);
    CHECK_ERROR(op_run_compute(&run, &status), status, CODE_INVALID_ARGUMENT,
                "Duplicate tag a found in summary inputs ");
  }
  op_run_end(&run);
  op_fails("MergeSummary[N=1]", "string[] x", CODE_INVALID_ARGUMENT,
           "Could not parse one of the summary inputs");
}

TEST(tags_may_hold_zeros) {
  static const char *const tag[] = {"610062"}, *const a[] = {"0a0a0a0361006215000080bf",
                                                             "0a0a0a0361006315000080bf"};
  Status status;
  OpRun run;
  status_init(&status);
  if (CHECK_OK(op_run_begin(&run, "ScalarSummary[T=float]", &status), status)) {
    put_hex(&run, tag, 1);
    if (CHECK_OK(op_run_inputs(&run, "float[1] -1", &status), status) &&
        CHECK_OK(op_run_compute(&run, &status), status)) {
      Str bytes = tstring_view(tensor_strings(&run.outputs[0]));
      CHECK_INT_EQ(bytes.length, 12);
      CHECK_MEM_EQ(bytes.data,
                   "\x0a\x0a\x0a\x03"
                   "a\0b\x15\0\0\x80\xbf",
                   12);
    }
  }
  op_run_end(&run);
  if (CHECK_OK(op_run_begin(&run, "MergeSummary[N=1]", &status), status)) {
    put_hex(&run, a, 2);
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      Str bytes = tstring_view(tensor_strings(&run.outputs[0]));
      CHECK_INT_EQ(bytes.length, 24);
      CHECK_MEM_EQ(bytes.data,
                   "\x0a\x0a\x0a\x03"
                   "a\0b\x15\0\0\x80\xbf\x0a\x0a\x0a\x03"
                   "a\0c\x15\0\0\x80\xbf",
                   24);
    }
  }
  op_run_end(&run);
}

/* --- images --- */

/* The pixels of image `i` in a summary with uncompressed PNG files: they are at a fixed position after the
 * signature, IHDR, and the heads of IDAT, zlib and block, each row after its filter byte. */
static void check_picture(const char *op, const char *inputs, int i, int height, int row,
                          const uint8_t *want) {
  Status status;
  OpRun run;
  status_init(&status);
  CHECK_CONTEXT("%s %s", op, inputs);
  if (CHECK_OK(op_run_begin(&run, op, &status), status) &&
      CHECK_OK(op_run_inputs(&run, inputs, &status), status) &&
      CHECK_OK(op_run_compute(&run, &status), status)) {
    Str bytes = tstring_view(tensor_strings(&run.outputs[0]));
    const char *at = bytes.data, *end = bytes.data + bytes.length;
    for (int n = -1; n < i && at; n++) {
      at = n < 0 ? at : at + 1;
      while (at + 8 <= end && memcmp(at, "\x89PNG\r\n\x1a\n", 8) != 0) at++;
      if (at + 8 > end) at = NULL;
    }
    if (CHECK(at)) {
      const char *pixels = at + 8 + 25 + 8 + 2 + 5;
      for (int y = 0; y < height && CHECK(pixels + row + 1 <= end); y++, pixels += row + 1) {
        CHECK_INT_EQ(pixels[0], 0);
        CHECK_MEM_EQ(pixels + 1, want + y * row, (size_t)row);
      }
    }
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

#define PICTURE(inputs, i, height, row, ...) \
  check_picture("ImageSummary[T=float]", inputs, i, height, row, (const uint8_t[]){__VA_ARGS__})

/* Pixels as scaled by TensorFlow. */
TEST(pictures_are_scaled) {
  check_picture("ImageSummary[T=uint8]", "string[] i; uint8[1,2,3,1] 0 1 2 3 4 5", 0, 2, 3,
                (const uint8_t[]){0, 1, 2, 3, 4, 5});
  PICTURE("string[] i; float[2,2,3,1] 0 1 2 3 4 5 6 7 8 9 10 11", 0, 2, 3, 0, 51, 102, 153, 204, 255);
  PICTURE("string[] i; float[2,2,3,1] 0 1 2 3 4 5 6 7 8 9 10 11", 1, 2, 3, 139, 162, 185, 208, 231, 255);
  PICTURE("string[] i; float[1,2,2,3] -5 -4 -3 -2 -1 0 1 2 3 4 5 6", 0, 2, 6, 22, 43, 64, 85, 106, 128, 149,
          170, 191, 212, 233, 255);
  PICTURE("string[] i; float[1,2,2,1] nan 1 2 3", 0, 2, 2, 255, 85, 170, 255);
  PICTURE("string[] i; float[1,1,2,3] nan 1 2 3 4 inf", 0, 1, 6, 255, 0, 0, 255, 0, 0);
  PICTURE("string[] i; float[1,2,2,1] -1 0 0.5 3", 0, 2, 2, 85, 128, 149, 255);
  PICTURE("string[] i; float[1,1,2,1] 1e-9 0", 0, 1, 2, 0, 0);
  PICTURE("string[] i; float[1,1,2,1] -2 -1", 0, 1, 2, 1, 64);
  PICTURE("string[] i; float[1,1,1,4] -4 1 0.3 2", 0, 1, 4, 1, 159, 137, 191);
  check_picture("ImageSummary[T=half]", "string[] i; half[1,1,2,1] 1 3", 0, 1, 2, (const uint8_t[]){85, 255});
  check_picture("ImageSummary[T=double]", "string[] i; double[1,1,2,1] -1 3", 0, 1, 2,
                (const uint8_t[]){85, 254});
}

/* The whole file of one black pixel, built by hand from the PNG specification; checksums by Python's zlib. */
TEST(a_picture_is_a_png_file) {
  check_hex("ImageSummary[T=float, max_images=1]", "string[] i; float[2,1,1,1] 0",
            "0a590a07692f696d616765224e080110011801224689504e470d0a1a0a0000000d494844520000000100000001080000"
            "00003a7e9b550000000d494441547801"
            "010200fdff0000000200017e050dd20000000049454e44ae426082");
}

TEST(pictures_are_checked) {
  check_hex("ImageSummary[T=float]", "string[] i; float[0,2,2,1]", "");
  op_fails("ImageSummary[T=float]", "string[] i; float[1,1,1] 1", CODE_INVALID_ARGUMENT,
           "Tensor must be 4-D with last dim 1, 3, or 4, not [1,1,1]");
  op_fails("ImageSummary[T=float]", "string[] i; float[1,2,2,2] 1", CODE_INVALID_ARGUMENT, "not [1,2,2,2]");
  op_fails("ImageSummary[T=float]", "string[1] i; float[1,2,2,1] 1", CODE_INVALID_ARGUMENT,
           "Tags must be a scalar");
  op_fails("ImageSummary[T=float]", "string[] i; float[1,0,2,1]", CODE_INVALID_ARGUMENT,
           "input tensor must have non-zero dims. Found: [1, 0, 2, 1].");
}

/* --- Assert and Print --- */

TEST(assert_shows_its_data) {
  op_gives("Assert[T=[int32]]", "bool[] true; int32[] 1", "");
  op_fails("Assert[T=[int32, string, float]]", "bool[] false; int32[5] 1 2 3 4 5; string[] x; float[2] 1.5 2",
           CODE_INVALID_ARGUMENT, "assertion failed: [1 2 3...] [x] [1.5 2]");
  op_fails("Assert[T=[int32], summarize=4]", "bool[] false; int32[2,3] 1 2 3 4 5 6", CODE_INVALID_ARGUMENT,
           "assertion failed: [[1 2 3][4...]...]");
  op_fails("Assert[T=[int32], summarize=-1]", "bool[] false; int32[5] 1 2 3 4 5", CODE_INVALID_ARGUMENT,
           "assertion failed: [1 2 3 4 5]");
  op_fails("Assert[T=[int32]]", "bool[1] false; int32[] 1", CODE_INVALID_ARGUMENT,
           "In[0] should be a scalar: [1]");
}

static void keep_line(void *arg, const char *line) {
  strbuf_append(arg, line);
  strbuf_append_char(arg, '\n');
}

TEST(print_writes_lines) {
  StrBuf lines = {0};
  Status status;
  OpRun run;
  status_init(&status);
  log_set_sink(keep_line, &lines);
  /* op_gives may run a kernel more than once, so lines are counted below. */
  op_gives("Print[T=float, U=[int32, string, float], message=msg, first_n=1]",
           "float[2] 1 2; int32[4] 1 2 3 4; string[] s; float[2,2] 1 2 3 4", "float[2] 1 2");
  CHECK_STR_CONTAINS(strbuf_text(&lines), "msg[1 2 3...][s][[1 2][3...]...]\n");
  strbuf_clear(&lines);
  if (CHECK_OK(op_run_begin(&run, "Print[T=float, U=[int32], message=m, first_n=2, summarize=-1]", &status),
               status) &&
      CHECK_OK(op_run_inputs(&run, "float[] 1; int32[4] 1 2 3 4", &status), status)) {
    for (int i = 0; i < 3; i++) CHECK_OK(op_run_compute(&run, &status), status);
  }
  op_run_end(&run);
  log_set_sink(NULL, NULL);
  strbuf_free(&lines);
}

/* --- strings --- */

TEST(strings_are_joined) {
  op_gives("StringJoin[N=2, separator=-]", "string[] a; string[2] b c", "string[2] a-b a-c");
  op_gives("StringJoin[N=3]", "string[2] a b; string[] x; string[2] c d", "string[2] axc bxd");
  op_gives("StringJoin[N=1, separator=-]", "string[] a", "string[] a");
  op_gives("StringJoin[N=2]", "string[0]; string[] b", "string[0]");
  op_fails("StringJoin[N=2]", "string[1] a; string[2] b c", CODE_INVALID_ARGUMENT,
           "Input shapes do not match: [1] vs. [2]");
  op_fails("StringJoin[N=2]", "string[1,1] a; string[2] b c", CODE_INVALID_ARGUMENT,
           "Input shapes do not match: [1,1] vs. [2]");
}

TEST(strings_are_added) {
  op_gives("Add[T=string]", "string[2] a b; string[2,1] c d", "string[2,2] ac bc ad bd");
  op_gives("Add[T=string]", "string[] a; string[] b", "string[] ab");
  op_gives("Add[T=string]", "string[0]; string[1] b", "string[0]");
  op_fails("Add[T=string]", "string[2] a; string[3] b", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2] vs. [3]");
}

GRADIENT_CASES(print, {"Print[T=double, U=[], first_n=0]", "double[3] 1 2 3"},
               {"Print[T=double, U=[double], first_n=0]", "double[] 4; double[2] 1 2"},
               {"Print[T=double, U=[double, int32], first_n=0]",
                "double[2,2] 1 2 3 4; double[] 5; int32[2] 6 7"},
               {"Print[T=complex128, U=[], first_n=0]", "complex128[2] 1+2i 3-1i"})
