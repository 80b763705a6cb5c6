/* Tables from text files; exports, whose order TensorFlow does not define; many entries. */
#include <stdio.h>

#include "base/file_store.h"
#include "harness.h"
#include "op_runner.h"
#include "ops/tables/lookup_table.h"

static Tensor handle_of(DataType key, DataType value, LookupTable **table) {
  Status status;
  Tensor handle = {0};
  status_init(&status);
  *table =
      lookup_table_new(&(TableSpec){.kind = TABLE_FIXED, .key_dtype = key, .value_dtype = value}, &status);
  CHECK_OK(*table && resource_handle_tensor(str_of(""), str_of("t"), &(*table)->resource, &handle, &status),
           status);
  return handle;
}

/* Runs an op whose input 0 is the table; `want` is its outputs, or the message of the error. */
static bool runs(const char *op, const Tensor *handle, const char *inputs, const char *want, bool fails) {
  OpRun run;
  Status status;
  Tensor wanted[OP_RUN_MAX] = {0};
  int count = 0;
  bool ok = false;
  status_init(&status);
  if (CHECK_OK(op_run_begin(&run, op, &status), status)) {
    run.inputs[run.num_inputs++] = (Tensor){0};
    bool ready = CHECK_OK(tensor_assign(&run.inputs[0], handle, &status), status) &&
                 CHECK_OK(op_run_inputs(&run, inputs, &status), status);
    bool ran = ready && op_run_compute(&run, &status);
    if (fails) ok = CHECK(!ran) && CHECK_STR_CONTAINS(status.message, want);
    else
      ok =
          CHECK_OK(ran, status) && CHECK_OK(tensors_parse(want, wanted, OP_RUN_MAX, &count, &status), status);
    for (int i = 0; !fails && ok && i < count; i++) ok = tensor_is_about(&run.outputs[i], &wanted[i], 0);
  }
  for (int i = 0; i < count; i++) tensor_clear(&wanted[i]);
  op_run_end(&run);
  return ok;
}

static void write_file(const char *text, int64_t length) {
  Status status;
  status_init(&status);
  CHECK_OK(kMemoryFiles.write("vocabulary.txt", false, text, length, &status), status);
}

#define FILE_OP(attrs) "InitializeTableFromTextFileV2[" attrs "]"
#define COUNTED "key_index=-2, value_index=-1, vocab_size=-1, offset=0, delimiter=|"

static void loads(const char *op, DataType key, DataType value, const char *export_op, const char *want) {
  LookupTable *table;
  Tensor handle = handle_of(key, value, &table);
  if (runs(op, &handle, "string[] vocabulary.txt", "", false)) runs(export_op, &handle, "", want, false);
  tensor_clear(&handle);
  tensor_object_unref(&table->resource.object);
}

static void refuses(const char *op, DataType key, DataType value, const char *words) {
  LookupTable *table;
  Tensor handle = handle_of(key, value, &table);
  runs(op, &handle, "string[] vocabulary.txt", words, true);
  tensor_clear(&handle);
  tensor_object_unref(&table->resource.object);
}

TEST(tables_are_read_from_text_files) {
  const FileStore *before = file_store();
  file_store_use(&kMemoryFiles);
  write_file("a\nb\r\nc", 6);
  loads(FILE_OP(COUNTED), DT_STRING, DT_INT64, "LookupTableExportV2[Tkeys=string, Tvalues=int64]",
        "string[3] a b c; int64[3] 0 1 2");
  loads(FILE_OP("key_index=-1, value_index=-2, vocab_size=2, offset=10, delimiter=|"), DT_INT64, DT_STRING,
        "LookupTableExportV2[Tkeys=int64, Tvalues=string]", "int64[2] 10 11; string[2] a b");
  refuses(FILE_OP("key_index=-2, value_index=-1, vocab_size=5, offset=0, delimiter=|"), DT_STRING, DT_INT64,
          "Invalid vocab_size in vocabulary.txt: expected 5 but got 3");
  refuses(FILE_OP("key_index=-2, value_index=0, vocab_size=-1, offset=0, delimiter=|"), DT_STRING, DT_INT64,
          "Field a in line 0 is not a valid int64.");
  refuses(FILE_OP(COUNTED), DT_STRING, DT_STRING,
          "Value index for line number requires table value dtype of int64, got string");
  write_file("x|1.5|7\ny|2|8\n", 14);
  loads(FILE_OP("key_index=2, value_index=1, vocab_size=-1, offset=0, delimiter=|"), DT_INT64, DT_FLOAT,
        "LookupTableExportV2[Tkeys=int64, Tvalues=float]", "int64[2] 7 8; float[2] 1.5 2");
  refuses(FILE_OP("key_index=0, value_index=3, vocab_size=-1, offset=0, delimiter=|"), DT_STRING, DT_INT64,
          "Invalid number of columns in vocabulary.txt line 0 (x|1.5|7) : expected at least 4 got 3");
  write_file("a\n\nb\n", 5);
  refuses(FILE_OP(COUNTED), DT_STRING, DT_INT64,
          "Invalid content in vocabulary.txt: empty line found at position 3.");
  write_file("a\nb\na\n", 6);
  refuses(FILE_OP(COUNTED), DT_STRING, DT_INT64,
          "HashTable has different value for same key. Key a has 0 and trying to add value 2");
  file_memory_clear();
  refuses(FILE_OP(COUNTED), DT_STRING, DT_INT64, "vocabulary.txt; No such file or directory");
  file_store_use(before);
}

TEST(entries_are_found_after_many_insertions_and_removals) {
  enum { COUNT = 1000 };
  Status status;
  Tensor keys = {0}, values = {0};
  int64_t rows = COUNT;
  status_init(&status);
  LookupTable *table =
      lookup_table_new(&(TableSpec){.kind = TABLE_SCALARS, .key_dtype = DT_INT64, .value_dtype = DT_STRING},
                       &status);
  if (!CHECK_OK(table && tensor_allocate_dims(&keys, DT_INT64, 1, &rows, NULL, &status) &&
                    tensor_allocate_dims(&values, DT_STRING, 1, &rows, NULL, &status),
                status))
    return;
  for (int64_t i = 0; i < COUNT; i++) {
    char text[40];
    int length = snprintf(text, sizeof text, "a value that is longer than 22: %lld", (long long)i);
    CHECK_OK(tstring_set(&tensor_strings(&values)[i], text, (size_t)length, &status), status);
    tensor_i64(&keys)[i] = i << 20;
    CHECK_OK(lookup_table_put(table, &keys, &values, i, &status), status);
  }
  for (int64_t i = 0; i < COUNT; i += 3) lookup_table_remove(table, &keys, i);
  for (int64_t i = 0; i < COUNT; i++) {
    int64_t entry = lookup_table_find(table, &keys, i);
    CHECK((entry < 0) == (i % 3 == 0));
    if (entry >= 0) CHECK(lookup_table_value_is(table, entry, &values, i));
  }
  CHECK_INT_EQ(table->count, COUNT - (COUNT + 2) / 3);
  tensor_clear(&keys);
  tensor_clear(&values);
  tensor_object_unref(&table->resource.object);
}
