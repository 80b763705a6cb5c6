/* Datasets of files: lines, records of one length, and TFRecords that TensorFlow's TFRecordWriter wrote. */
#include <string.h>

#include "base/file_store.h"
#include "harness.h"
#include "runtime/function_fixture.h"

static const char kRecords[] =
    "\x05\x00\x00\x00\x00\x00\x00\x00\xea\xb2\x04\x3ehello\xbb\x1f\x1c\x19"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x29\x03\x98\x07\xd8\xea\x82\xa2";

static bool write(const char *path, const char *bytes, size_t size) {
  Status status;
  status_init(&status);
  return CHECK_OK(kMemoryFiles.write(path, false, bytes, (int64_t)size, &status), status);
}

/* The elements of the dataset `op` with the files x, joined by bars. */
#define ALL(op)                                                                                       \
  "F(x:string) -> (y:string) {\n"                                                                     \
  "  zero = Const[dtype=int64, value=0]()\n"                                                          \
  "  two = Const[dtype=int64, value=2]()\n"                                                           \
  "  most = Const[dtype=int64, value=9]()\n"                                                          \
  "  axis = Const[dtype=int32, value=0]()\n"                                                          \
  "  digit = AsString[T=int64](zero:output:0)\n"                                                      \
  "  none = ZerosLike[T=string](digit:output:0)\n" op                                                 \
  "  b = BatchDataset[output_types={string}, output_shapes=[<unknown>]](d:handle:0, most:output:0)\n" \
  "  v = DatasetToSingleElement[output_types={string}, output_shapes=[<unknown>]](b:handle:0)\n"      \
  "  j = ReduceJoin[separator=\"|\"](v:components:0, axis:output:0)\n"                                \
  "  return y = j:output:0\n}\n"
#define LINES ALL("  d = TextLineDataset(x, none:y:0, zero:output:0)\n")
#define BLOCKS \
  ALL("  d = FixedLengthRecordDataset(x, two:output:0, two:output:0, two:output:0, zero:output:0)\n")
#define RECORDS ALL("  d = TFRecordDataset(x, none:y:0, zero:output:0)\n")

static void gives(const char *library, const char *files, const char *want) {
  Functions f;
  if (functions_begin(&f, library)) function_gives(&f, "F", files, want);
  functions_end(&f);
}

static void fails(const char *library, const char *files, Code code, const char *part) {
  Functions f;
  if (functions_begin(&f, library)) function_fails(&f, "F", files, 1, code, part);
  functions_end(&f);
}

TEST(lines_of_several_files_follow_each_other) {
  if (write("ram://a", "one\ntwo\r\n\nlast", 14) && write("ram://b", "", 0) &&
      write("ram://c", "more\n", 5)) {
    gives(LINES, "string[3] ram://a ram://b ram://c", "string[] one|two||last|more");
    gives(LINES, "string[] ram://c", "string[] more");
    fails(LINES, "string[1] ram://none", CODE_NOT_FOUND, "ram://none");
  }
  file_memory_clear();
}

TEST(records_of_one_length_lie_between_header_and_footer) {
  if (write("ram://a", "hhaabbccff", 10)) {
    gives(BLOCKS, "string[1] ram://a", "string[] aa|bb|cc");
    if (write("ram://a", "hhaabbcff", 9))
      fails(BLOCKS, "string[1] ram://a", CODE_INVALID_ARGUMENT, "not an exact multiple of the record length");
  }
  file_memory_clear();
}

TEST(tfrecords_are_checked) {
  char damaged[sizeof kRecords];
  if (write("ram://a", kRecords, sizeof kRecords - 1)) gives(RECORDS, "string[1] ram://a", "string[] hello|");
  memcpy(damaged, kRecords, sizeof damaged);
  damaged[14] ^= 1;
  if (write("ram://a", damaged, sizeof damaged - 1))
    fails(RECORDS, "string[1] ram://a", CODE_DATA_LOSS, "corrupted record at 0");
  if (write("ram://a", kRecords, sizeof kRecords - 3))
    fails(RECORDS, "string[1] ram://a", CODE_DATA_LOSS, "truncated record at 21");
  file_memory_clear();
}
