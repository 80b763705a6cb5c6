/* Datasets of the contents of files: TextLineDataset, FixedLengthRecordDataset, TFRecordDataset. An element
 * is a string. Files are read whole, one at a time. */
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "checkpoint/crc32c.h"
#include "ops/data/data_iterator.h"

enum { FILE_LIMIT = 1 << 30 };

/* The tensor is the vector of file names. */
typedef struct FileDataset {
  Dataset dataset;
  int64_t header, record, footer; /* bytes of FixedLengthRecordDataset */
} FileDataset;

typedef struct FileIterator {
  DataIterator iterator;
  int64_t next;    /* file */
  char *bytes;     /* of the open file; NULL: none */
  int64_t at, end; /* what has not been given */
} FileIterator;

/* Sets *record to the next one of the open file, or *ended. */
typedef bool NextRecord(FileIterator *file, Str *record, bool *ended, Status *status);

static void close_file(FileIterator *file) {
  mem_free(file->bytes);
  file->bytes = NULL;
}

static void file_finish(DataIterator *iterator) { close_file((FileIterator *)iterator); }

static bool open_file(FileIterator *file, Status *status) {
  const FileDataset *dataset = (const FileDataset *)file->iterator.dataset;
  char path[FILE_PATH_MAX + 1];
  TRY(file_path(tstring_view(&tensor_strings(&dataset->dataset.tensors[0])[file->next]), path, status));
  TRY(file_read_all(path, FILE_LIMIT, &file->bytes, &file->end, status));
  file->next++;
  file->at = 0;
  if (dataset->record == 0) return true;
  int64_t body = file->end - dataset->header - dataset->footer;
  if (body < 0 || body % dataset->record != 0) {
    return status_invalid(status,
                          "Excluding the header (%lld bytes) and footer (%lld bytes), input file \"%s\" has "
                          "body length %lld bytes, which is not an exact multiple of the record length (%lld "
                          "bytes).",
                          (long long)dataset->header, (long long)dataset->footer, path, (long long)body,
                          (long long)dataset->record);
  }
  file->at = dataset->header;
  file->end -= dataset->footer;
  return true;
}

static RunState next_of_files(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                              NextRecord *next_record, Status *status) {
  FileIterator *file = (FileIterator *)iterator;
  for (;;) {
    Str record = {0};
    bool ended = false;
    if (!file->bytes) {
      *end = file->next == tensor_num_elements(&iterator->dataset->tensors[0]);
      if (*end) return RUN_DONE;
      if (!open_file(file, status)) return RUN_FAILED;
    }
    if (!next_record(file, &record, &ended, status)) {
      close_file(file);
      return RUN_FAILED;
    }
    if (!ended) {
      bool ok = tensor_allocate_dims(&out[0], DT_STRING, 0, NULL, context->pool, status) &&
                tstring_set(tensor_strings(&out[0]), record.data, record.length, status);
      return ok ? RUN_DONE : RUN_FAILED;
    }
    close_file(file);
  }
}

/* --- lines --- */

static bool next_line(FileIterator *file, Str *record, bool *ended, Status *status) {
  (void)status;
  *ended = file->at == file->end;
  if (*ended) return true;
  const char *line = file->bytes + file->at;
  int64_t left = file->end - file->at;
  const char *feed = memchr(line, '\n', (size_t)left);
  int64_t length = feed ? feed - line : left;
  file->at += length + (feed != NULL);
  if (length > 0 && line[length - 1] == '\r') length--;
  *record = (Str){line, (size_t)length};
  return true;
}

static RunState text_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                          Status *status) {
  return next_of_files(iterator, context, out, end, next_line, status);
}

/* --- records of one length --- */

static bool next_block(FileIterator *file, Str *record, bool *ended, Status *status) {
  (void)status;
  int64_t size = ((const FileDataset *)file->iterator.dataset)->record;
  *ended = file->at == file->end;
  if (*ended) return true;
  *record = (Str){file->bytes + file->at, (size_t)size};
  file->at += size;
  return true;
}

static RunState blocks_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  return next_of_files(iterator, context, out, end, next_block, status);
}

/* --- TFRecord: the length (8 bytes), its checksum (4), the record, its checksum (4) --- */

static uint64_t read_little(const char *bytes, int count) {
  uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | (uint8_t)bytes[i];
  return value;
}

static bool checked(const char *bytes, int64_t size) {
  return crc32c_mask(crc32c_extend(0, bytes, size)) == (uint32_t)read_little(bytes + size, 4);
}

static bool next_tfrecord(FileIterator *file, Str *record, bool *ended, Status *status) {
  const char *bytes = file->bytes + file->at;
  int64_t left = file->end - file->at;
  *ended = left == 0;
  if (*ended) return true;
  if (left < 12) return status_set(status, CODE_DATA_LOSS, "truncated record at %lld", (long long)file->at);
  uint64_t size = read_little(bytes, 8);
  if (!checked(bytes, 8))
    return status_set(status, CODE_DATA_LOSS, "corrupted record at %lld", (long long)file->at);
  if (left < 16 || size > (uint64_t)left - 16)
    return status_set(status, CODE_DATA_LOSS, "truncated record at %lld", (long long)file->at);
  if (!checked(bytes + 12, (int64_t)size))
    return status_set(status, CODE_DATA_LOSS, "corrupted record at %lld", (long long)file->at);
  *record = (Str){bytes + 12, (size_t)size};
  file->at += (int64_t)size + 16;
  return true;
}

static RunState tfrecord_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                              Status *status) {
  return next_of_files(iterator, context, out, end, next_tfrecord, status);
}

#define FILE_KIND(function)                                                         \
  {                                                                                 \
    .iterator_size = sizeof(FileIterator), .next = function, .finish = file_finish, \
    .cardinality = cardinality_unknown                                              \
  }
static const DatasetKind kLines = FILE_KIND(text_next), kBlocks = FILE_KIND(blocks_next),
                         kRecords = FILE_KIND(tfrecord_next);

/* --- kernels --- */

/* Where the inputs are; 0: the op does not have them. */
typedef struct FileInputs {
  const DatasetKind *kind;
  int compression, sizes;
} FileInputs;

static bool check_compression(const KernelContext *context, int input, Status *status) {
  const Tensor *text = context->inputs[input];
  if (!tensor_is_scalar(text)) return status_invalid(status, "compression_type must be a scalar");
  return tstring_view(tensor_strings(text)).length == 0 ||
         status_set(status, CODE_UNIMPLEMENTED, "Compressed files are not supported");
}

static bool read_sizes(const KernelContext *context, int first, FileDataset *made, Status *status) {
  TRY(dataset_int(context, first, "header_bytes", &made->header, status));
  TRY(dataset_int(context, first + 1, "record_bytes", &made->record, status));
  TRY(dataset_int(context, first + 2, "footer_bytes", &made->footer, status));
  if (made->header < 0) return status_invalid(status, "header_bytes must be >= 0");
  if (made->record <= 0) return status_invalid(status, "record_bytes must be > 0");
  if (made->footer < 0) return status_invalid(status, "footer_bytes must be >= 0");
  return (made->header <= FILE_LIMIT && made->footer <= FILE_LIMIT) ||
         status_invalid(status, "header_bytes and footer_bytes are too large");
}

/* A scalar is one file name. */
static bool read_files(const KernelContext *context, FileDataset *made, Status *status) {
  if (context->inputs[0]->shape.rank > 1)
    return status_invalid(status, "`filenames` must be a scalar or a vector.");
  return dataset_add_tensors(context, 0, 1, &made->dataset, status);
}

static bool file_dataset(KernelContext *context, Status *status) {
  const FileInputs *inputs = ((const DatasetAttrs *)context->data)->variant;
  FileDataset *made = dataset_new(context, inputs->kind, sizeof *made, status);
  if (!made) return false;
  bool ok = read_files(context, made, status) &&
            (!inputs->compression || check_compression(context, inputs->compression, status)) &&
            (!inputs->sizes || read_sizes(context, inputs->sizes, made, status));
  return ok ? dataset_output(context, &made->dataset, status) : dataset_drop(&made->dataset);
}

static const FileInputs kText = {&kLines, 1, 0}, kFixed = {&kBlocks, 0, 1}, kFixedV2 = {&kBlocks, 5, 1},
                        kTFRecord = {&kRecords, 1, 0};
static const DatasetAttrs kTextAttrs = {.variant = &kText}, kFixedAttrs = {.variant = &kFixed},
                          kFixedV2Attrs = {.variant = &kFixedV2}, kTFRecordAttrs = {.variant = &kTFRecord};

#define FILE_DATASET .attrs = {DATASET_METADATA}, .is_stateful = true, DATASET_OUTPUT
#define SIZES "header_bytes: int64", "record_bytes: int64", "footer_bytes: int64", "buffer_size: int64"

const OpRegistration kOpTextLineDataset = {
    .name = "TextLineDataset",
    .inputs = {"filenames: string", "compression_type: string", "buffer_size: int64"},
    FILE_DATASET,
    .kernels = {{DT_INVALID, file_dataset, &kTextAttrs}},
};

const OpRegistration kOpFixedLengthRecordDataset = {
    .name = "FixedLengthRecordDataset",
    .inputs = {"filenames: string", SIZES},
    FILE_DATASET,
    .kernels = {{DT_INVALID, file_dataset, &kFixedAttrs}},
};

const OpRegistration kOpFixedLengthRecordDatasetV2 = {
    .name = "FixedLengthRecordDatasetV2",
    .inputs = {"filenames: string", SIZES, "compression_type: string"},
    FILE_DATASET,
    .kernels = {{DT_INVALID, file_dataset, &kFixedV2Attrs}},
};

const OpRegistration kOpTFRecordDataset = {
    .name = "TFRecordDataset",
    .inputs = {"filenames: string", "compression_type: string", "buffer_size: int64"},
    FILE_DATASET,
    .kernels = {{DT_INVALID, file_dataset, &kTFRecordAttrs}},
};
