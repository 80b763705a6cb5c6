/* Small files of large images: they are refused before they take memory. What TensorFlow says about damaged
 * files is among the golden cases (tests/oracle/golden/pictures.py). */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "harness.h"
#include "op_runner.h"
#include "ops/op_table.h"

/* Blocks of more than this are refused, so that an image that is allocated is RESOURCE_EXHAUSTED. */
enum { LARGEST_BLOCK = 4 << 20 };

static void *allocate_limited(void *context, size_t size) {
  (void)context;
  return size > LARGEST_BLOCK ? NULL : aligned_alloc(64, (size + 63) & ~(size_t)63);
}

static void deallocate(void *context, void *memory, size_t size) {
  (void)context, (void)size;
  free(memory);
}

static const Allocator kLimited = {allocate_limited, deallocate, NULL};

/* Frees the file. */
static void check_fails(const char *op, StrBuf *file, Code code, const char *words) {
  Status status;
  OpRun run;
  uint8_t *bytes = malloc((size_t)file->length); /* no block may be live while the allocator changes */
  size_t length = (size_t)file->length;
  status_init(&status);
  if (!CHECK(bytes)) return;
  memcpy(bytes, file->data, length);
  strbuf_free(file);
  op_registry_clear(op_registry_global());
  CHECK(mem_set_allocator(&kLimited));
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), &status);
  if (CHECK(op_run_begin(&run, op, &status))) {
    Tensor *contents = op_run_input(&run, DT_STRING, 0, NULL);
    if (CHECK(contents && tstring_set(tensor_strings(contents), bytes, length, &status)))
      CHECK(!op_run_compute(&run, &status));
  }
  op_run_end(&run);
  op_registry_clear(op_registry_global());
  CHECK(mem_set_allocator(NULL));
  free(bytes);
  CHECK_CONTEXT("%s", status.message);
  CHECK_INT_EQ(status.code, code);
  CHECK(strstr(status.message, words));
}

static void append_word(StrBuf *out, uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) strbuf_append_char(out, (char)(word >> shift));
}

static void append_chunk(StrBuf *out, const char *name, const StrBuf *data) {
  int64_t start = out->length + 4;
  append_word(out, (uint32_t)data->length);
  strbuf_append(out, name);
  strbuf_append_bytes(out, data->data, (size_t)data->length);
  append_word(out, (uint32_t)crc32(0, (const Bytef *)out->data + start, (uInt)(out->length - start)));
}

TEST(a_png_file_that_is_too_short_for_its_pixels_takes_no_memory) {
  StrBuf file = {0}, header = {0}, data = {0};
  append_word(&header, 20000);
  append_word(&header, 20000);
  strbuf_append_bytes(&header, "\x10\6\0\0\0", 5); /* 16 bits, RGBA */
  strbuf_append_bytes(&data, "x\x9c\0\0\0\0\0\0", 8);
  strbuf_append(&file, "\x89PNG\r\n\x1a\n");
  append_chunk(&file, "IHDR", &header);
  append_chunk(&file, "IDAT", &data);
  strbuf_free(&header);
  strbuf_free(&data);
  check_fails("DecodePng[dtype=uint16]", &file, CODE_INVALID_ARGUMENT, "Invalid PNG data, size");
}

/* Appends a frame of color 0. Its codes have three bits: the table is cleared before it grows. */
static void append_frame(StrBuf *out, int width, int height) {
  const char start[] = {',', 0, 0, 0, 0, (char)width, (char)(width >> 8), (char)height, (char)(height >> 8),
                        0,   2};
  static const int kCodes[] = {4, 0, 0}; /* clear, and two pixels */
  char block[256] = {0};
  int bits = 0;
  strbuf_append_bytes(out, start, sizeof start);
  for (int64_t code = 0; code < (int64_t)width * height / 2 * 3 + 3; code++) {
    for (int bit = 0; bit < 3; bit++, bits++) {
      if ((kCodes[code % 3] >> bit & 1) != 0)
        block[1 + bits / 8] = (char)(block[1 + bits / 8] | 1 << bits % 8);
    }
    if (bits < 24 * 8) continue; /* a multiple of both 3 and 8 */
    block[0] = (char)(bits / 8);
    strbuf_append_bytes(out, block, (size_t)(1 + bits / 8));
    memset(block, 0, sizeof block);
    bits = 0;
  }
  block[0] = (char)((bits + 7) / 8);
  strbuf_append_bytes(out, block, (size_t)(1 + (bits + 7) / 8));
  if (block[0] != 0) strbuf_append_char(out, 0);
}

TEST(a_gif_file_whose_frames_span_a_large_image_takes_no_memory) {
  StrBuf file = {0};
  strbuf_append_bytes(&file, "GIF89a\1\0\1\0\x80\0\0\0\0\0\1\1\1", 19);
  append_frame(&file, 65535, 1);
  append_frame(&file, 1, 65535);
  strbuf_append(&file, ";");
  check_fails("DecodeGif", &file, CODE_INVALID_ARGUMENT, "GIF size too large: 2 frames of 65535 by 65535");
}

TEST(an_image_that_does_not_fit_in_memory_is_an_error) {
  StrBuf file = {0};
  /* A header of 16000 x 16000 grey pixels, and the beginning of the only scan. */
  strbuf_append_bytes(&file,
                      "\xFF\xD8\xFF\xC0\0\x0B\x08\x3E\x80\x3E\x80\1\1\x11\0\xFF\xDA\0\x08\1\1\0\0\x3F\0", 25);
  check_fails("DecodeJpeg", &file, CODE_RESOURCE_EXHAUSTED, "");
}

TEST(metadata_that_is_too_long_for_a_jpeg_marker_is_an_error) {
  StrBuf op = {0};
  strbuf_append(&op, "EncodeJpeg[xmp_metadata=");
  for (int i = 0; i < 65536; i++) strbuf_append_char(&op, 'x');
  strbuf_append(&op, "]");
  op_fails(strbuf_text(&op), "uint8[1,1,1] 7", CODE_INTERNAL, "JPEG encoding failed");
  strbuf_free(&op);
}

TEST(an_image_that_is_too_wide_for_its_format_is_an_error) {
  op_fails("EncodeJpeg", "uint8[1,65501,1] 7", CODE_INTERNAL, "JPEG encoding failed");
  op_fails("EncodePng[T=uint8]", "uint8[2,1,1000001,1] 7", CODE_INTERNAL,
           "PNG encoding failed at the following flattened batch indices: 0, 1");
}
