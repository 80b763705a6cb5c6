/* Replays TensorFlow's recorded results: tests/data/oracle/tensor_protos.txt, written by
 * tests/oracle/tensor_protos.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "tensor/tensor.h"

enum { MOST_FIELDS = 4 };

static Status status;

typedef struct Record {
  char *field[MOST_FIELDS];
  int line;
} Record;

typedef struct OracleFile {
  char *text, *next;
  int line;
} OracleFile;

static bool open_records(OracleFile *file) {
  *file = (OracleFile){0};
  FILE *stream = fopen("tests/data/oracle/tensor_protos.txt", "rb");
  if (!CHECK(stream)) return false;
  fseek(stream, 0, SEEK_END);
  long size = ftell(stream);
  rewind(stream);
  file->text = file->next = calloc((size_t)size + 1, 1);
  bool ok = CHECK(file->text && fread(file->text, 1, (size_t)size, stream) == (size_t)size);
  fclose(stream);
  return ok;
}

/* The next record of that kind. */
static bool next_record(OracleFile *file, const char *kind, Record *record) {
  while (*file->next != '\0') {
    char *line = file->next, *end = strchr(line, '\n');
    *end = '\0';
    file->next = end + 1;
    *record = (Record){.line = ++file->line};
    for (int i = 0; i < MOST_FIELDS && line; i++) {
      record->field[i] = line;
      line = strchr(line, '\t');
      if (line) *line++ = '\0';
    }
    if (strcmp(record->field[0], kind) == 0) return true;
  }
  return false;
}

static size_t unhex(const char *hex, unsigned char *bytes) {
  size_t length = 0;
  for (unsigned value; *hex != '\0' && *hex != ',' && sscanf(hex, "%2x", &value) == 1; hex += 2)
    bytes[length++] = (unsigned char)value;
  return length;
}

static TensorProto *proto_of(const char *hex, Arena *arena) {
  unsigned char *bytes = arena_alloc(arena, (int64_t)strlen(hex) / 2 + 1);
  size_t length = unhex(hex, bytes);
  void *proto = NULL;
  CHECK_OK(proto_parse(kTensorProto, bytes, length, arena, &proto, &status), status);
  return proto;
}

static void check_elements(const Tensor *tensor, const char *want) {
  unsigned char *bytes = calloc(strlen(want) / 2 + 1, 1);
  int64_t count = tensor_num_elements(tensor);
  if (tensor->dtype == DT_STRING) {
    for (int64_t i = 0; i < count; i++) {
      Str string = tstring_view(&tensor_strings(tensor)[i]);
      if (CHECK_INT_EQ(string.length, unhex(want, bytes))) CHECK_MEM_EQ(string.data, bytes, string.length);
      want += strcspn(want, ",");
      if (CHECK(i + 1 == count || *want == ',')) want += *want == ',';
    }
  } else if (CHECK_INT_EQ(tensor_bytes(tensor), unhex(want, bytes))) {
    CHECK_MEM_EQ(tensor->data, bytes, (size_t)tensor_bytes(tensor));
  }
  free(bytes);
}

static bool same_tensors(const Tensor *a, const Tensor *b) {
  if (a->dtype != b->dtype || !shape_equal(&a->shape, &b->shape)) return false;
  for (int64_t i = 0; a->dtype == DT_STRING && i < tensor_num_elements(a); i++) {
    if (!tstring_equal(&tensor_strings(a)[i], &tensor_strings(b)[i])) return false;
  }
  return a->dtype == DT_STRING || memcmp(a->data, b->data, (size_t)tensor_bytes(a)) == 0;
}

/* The elements are TensorFlow's; the tensor's proto has the same elements; protos are equal if their tensors
 * are. */
TEST(tensorflow_reads_the_same_elements) {
  OracleFile file;
  Record record;
  Arena *arena = arena_new();
  TensorProto *before = NULL;
  Tensor tensor = {0}, previous = {0}, again = {0};
  int read = 0, refused = 0;
  if (open_records(&file)) {
    while (next_record(&file, "parse", &record)) {
      CHECK_CONTEXT("line %d", record.line);
      TensorProto *proto = proto_of(record.field[1], arena), *copy = NULL;
      bool want = strcmp(record.field[2], "refused") != 0;
      CHECK(tensor_proto_validate(proto, &status) == want);
      if (!want) {
        refused++;
        CHECK_ERROR(tensor_from_proto(proto, &tensor, &status), status, CODE_INVALID_ARGUMENT, "");
        continue;
      }
      read++;
      if (!CHECK_OK(tensor_from_proto(proto, &tensor, &status), status)) continue;
      check_elements(&tensor, record.field[2]);
      if (CHECK_OK(tensor_to_proto(&tensor, arena, &copy, &status), status)) {
        CHECK(tensor_proto_equal(proto, copy) && tensor_proto_equal(copy, proto));
        CHECK_OK(tensor_from_proto(copy, &again, &status), status);
        CHECK(same_tensors(&again, &tensor));
      }
      if (before) CHECK(tensor_proto_equal(before, proto) == same_tensors(&previous, &tensor));
      before = proto;
      tensor_move(&previous, &tensor);
    }
  }
  CHECK(read > 1000 && refused > 100);
  free(file.text);
  tensor_clear(&tensor);
  tensor_clear(&previous);
  tensor_clear(&again);
  arena_free(arena);
}

TEST(tensorflow_writes_the_same_content) {
  OracleFile file;
  Record record;
  Arena *arena = arena_new();
  Tensor tensor = {0};
  int count = 0;
  if (open_records(&file)) {
    while (next_record(&file, "write", &record)) {
      CHECK_CONTEXT("line %d", record.line);
      TensorProto *copy = NULL;
      StrBuf bytes = {0};
      unsigned char *want = calloc(strlen(record.field[2]), 1);
      REQUIRE_OK(tensor_from_proto(proto_of(record.field[1], arena), &tensor, &status), status);
      REQUIRE_OK(tensor_to_proto(&tensor, arena, &copy, &status), status);
      REQUIRE_OK(proto_serialize(copy, &bytes, &status), status);
      if (CHECK_INT_EQ(bytes.length, unhex(record.field[2], want)))
        CHECK_MEM_EQ(bytes.data, want, (size_t)bytes.length);
      free(want);
      strbuf_free(&bytes);
      count++;
    }
  }
  CHECK(count > 40);
  free(file.text);
  tensor_clear(&tensor);
  arena_free(arena);
}

TEST(tensorflow_prints_the_same) {
  OracleFile file;
  Record record;
  Arena *arena = arena_new();
  Tensor tensor = {0};
  int count = 0;
  if (open_records(&file)) {
    while (next_record(&file, "print", &record)) {
      CHECK_CONTEXT("line %d", record.line);
      StrBuf text = {0}, text_of_proto = {0}, want = {0};
      int64_t limit = strtoll(record.field[1], NULL, 10);
      const TensorProto *proto = proto_of(record.field[2], arena);
      REQUIRE_OK(tensor_from_proto(proto, &tensor, &status), status);
      strbuf_printf(&want, "Tensor<type: %s shape: ", dtype_name((int)tensor.dtype));
      shape_print(&tensor.shape, &want);
      strbuf_printf(&want, " values: %s>", record.field[3]);
      tensor_print(&tensor, limit, &text);
      CHECK_STR_EQ(strbuf_text(&text), strbuf_text(&want));
      tensor_proto_print(proto, limit, &text_of_proto);
      CHECK_STR_EQ(strbuf_text(&text_of_proto), strbuf_text(&want));
      strbuf_free(&text);
      strbuf_free(&text_of_proto);
      strbuf_free(&want);
      count++;
    }
  }
  CHECK(count > 250);
  free(file.text);
  tensor_clear(&tensor);
  arena_free(arena);
}

/* --- floats of 16 bits and fewer --- */

static void hash_bytes(uint64_t *hash, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; i++) *hash = (*hash ^ (value >> 8 * i & 0xff)) * 0x100000001b3u;
}

TEST(small_floats_have_numpys_values) {
  OracleFile file;
  Record record;
  int blocks = 0;
  if (!open_records(&file)) return;
  while (next_record(&file, "to_float", &record)) {
    int dtype = dtype_from_name(str_of(record.field[1]));
    uint32_t number = (uint32_t)strtoul(record.field[2], NULL, 10), first = 0, end = number;
    if (dtype_size(dtype) == 2) {
      first = number * 4096;
      end = first + 4096;
    }
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t bits = first; bits < end; bits++) {
      float value = dtype == DT_HALF       ? half_to_float((uint16_t)bits)
                    : dtype == DT_BFLOAT16 ? bfloat16_to_float((uint16_t)bits)
                                           : float8_to_float(dtype, (uint8_t)bits);
      uint32_t pattern;
      memcpy(&pattern, &value, sizeof pattern);
      hash_bytes(&hash, isnan(value) ? UINT32_MAX : pattern, 4);
    }
    CHECK_CONTEXT("%s %u", record.field[1], number);
    CHECK_INT_EQ(hash, strtoull(record.field[3], NULL, 16));
    blocks++;
  }
  CHECK_INT_EQ(blocks, 32 + 6);
  free(file.text);
}

TEST(floats_become_numpys_sixteen_bits) {
  static const uint32_t low[] = {0,      1,      0x0fff, 0x1000, 0x1001, 0x1fff, 0x3000,
                                 0x5000, 0x7000, 0x7fff, 0x8000, 0x8001, 0xb000, 0xffff};
  OracleFile file;
  Record record;
  int blocks = 0;
  if (!open_records(&file)) return;
  while (next_record(&file, "from_float", &record)) {
    bool half = strcmp(record.field[1], "half") == 0;
    uint32_t block = (uint32_t)strtoul(record.field[2], NULL, 10);
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t high = block * 4096; high < (block + 1) * 4096; high++) {
      for (size_t i = 0; i < sizeof low / sizeof *low; i++) {
        uint32_t pattern = high << 16 | low[i];
        float value;
        memcpy(&value, &pattern, sizeof value);
        uint16_t bits = half ? float_to_half(value) : float_to_bfloat16(value);
        bool nan = isnan(half ? half_to_float(bits) : bfloat16_to_float(bits));
        hash_bytes(&hash, nan ? UINT16_MAX : bits, 2);
      }
    }
    CHECK_CONTEXT("%s %u", record.field[1], block);
    CHECK_INT_EQ(hash, strtoull(record.field[3], NULL, 16));
    blocks++;
  }
  CHECK_INT_EQ(blocks, 32);
  free(file.text);
}
