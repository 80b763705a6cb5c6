#include "ops/codecs/png_decode.h"

#include <string.h>

#include "ops/codecs/png_memory.h"

/* Deflate packs at most 258 bytes into two bits. */
enum { DEFLATE_MAX_RATIO = 1032 };
static const int64_t kMaxSide = 1LL << 27;

typedef struct PngReader {
  PngCall call;
  png_structp png;
  png_infop info;
  Str left; /* of the file */
  bool wide;
  int channels, bit_depth, color_type, passes;
  png_uint_32 width, height;
} PngReader;

static void read_bytes(png_structp png, png_bytep to, size_t length) {
  PngReader *reader = png_get_io_ptr(png);
  if (length > reader->left.length) png_error(png, "the file ends");
  memcpy(to, reader->left.data, length);
  reader->left.data += length;
  reader->left.length -= length;
}

static bool open_reader(PngReader *reader) {
  /* Chunks that hold no pixels, and of which a small file can hold many large ones. */
  static const png_byte kSkipped[] = "tEXt\0zTXt\0iTXt\0sPLT";
  reader->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader->call, png_fail, png_ignore,
                                         &reader->call, png_allocate, png_release);
  reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
  if (!reader->info) return false;
  png_set_read_fn(reader->png, reader, read_bytes);
  png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, kSkipped, 4);
  return true;
}

/* Alpha is added if the output has it and the file does not, and removed in the opposite case. */
static void convert_alpha(PngReader *reader) {
  bool in_file = (reader->color_type & PNG_COLOR_MASK_ALPHA) != 0;
  bool transparent_color = png_get_valid(reader->png, reader->info, PNG_INFO_tRNS) != 0;
  if (reader->channels % 2 != 0) {
    if (in_file || transparent_color) png_set_strip_alpha(reader->png);
  } else if (!in_file && transparent_color) {
    png_set_tRNS_to_alpha(reader->png);
  } else if (!in_file) {
    png_set_add_alpha(reader->png, (1u << reader->bit_depth) - 1, PNG_FILLER_AFTER);
  }
}

static void convert_colors(PngReader *reader) {
  bool gray_in_file = (reader->color_type & PNG_COLOR_MASK_COLOR) == 0, gray = reader->channels < 3;
  if (reader->color_type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader->png);
  if (gray_in_file && reader->bit_depth < 8) png_set_expand_gray_1_2_4_to_8(reader->png);
  if (gray && !gray_in_file) png_set_rgb_to_gray(reader->png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (!gray && gray_in_file) png_set_gray_to_rgb(reader->png);
}

static int channels_of_file(const PngReader *reader) {
  if (reader->color_type != PNG_COLOR_TYPE_PALETTE) return png_get_channels(reader->png, reader->info);
  return png_get_valid(reader->png, reader->info, PNG_INFO_tRNS) ? 4 : 3;
}

/* Reads up to the pixels, and tells libpng how to convert them. */
static bool read_header(PngReader *reader) {
  if (setjmp(reader->call.on_error)) return false;
  if (!open_reader(reader)) return false;
  png_read_info(reader->png, reader->info);
  png_get_IHDR(reader->png, reader->info, &reader->width, &reader->height, &reader->bit_depth,
               &reader->color_type, NULL, NULL, NULL);
  if (reader->channels == 0) reader->channels = channels_of_file(reader);
  convert_alpha(reader);
  if (reader->bit_depth > 8 && !reader->wide) png_set_strip_16(reader->png);
  png_set_packing(reader->png);
  reader->passes = png_set_interlace_handling(reader->png);
  if (reader->wide) png_set_swap(reader->png);
  convert_colors(reader);
  return true;
}

static bool size_is_refused(const PngReader *reader) {
  int64_t width = reader->width, height = reader->height;
  return width >= kMaxSide || height >= kMaxSide || width * height >= IMAGE_MAX_PIXELS;
}

/* Whether the rest of the file is too short for the pixels, however well it is compressed. Without this, a
 * small file could ask for gigabytes. */
static bool is_too_short(PngReader *reader) {
  int64_t bits = (int64_t)reader->bit_depth * png_get_channels(reader->png, reader->info);
  int64_t bytes = (int64_t)reader->width * (int64_t)reader->height * bits / 8;
  return bytes / DEFLATE_MAX_RATIO > (int64_t)reader->left.length + 1;
}

static bool read_rows(PngReader *reader, uint8_t *samples, int64_t row_bytes) {
  if (setjmp(reader->call.on_error)) return false;
  png_read_update_info(reader->png, reader->info);
  if ((int64_t)png_get_rowbytes(reader->png, reader->info) > row_bytes) return false;
  for (int pass = 0; pass < reader->passes; pass++) {
    for (png_uint_32 y = 0; y < reader->height; y++)
      png_read_row(reader->png, samples + (int64_t)y * row_bytes, NULL);
  }
  png_read_end(reader->png, reader->info);
  return true;
}

/* Makes samples of 16 bits from rows of 8-bit samples that are twice as long as their samples. */
static void widen_rows(uint8_t *samples, int64_t rows, int64_t row_samples) {
  for (int64_t y = 0; y < rows; y++) {
    uint8_t *row = samples + y * row_samples * 2;
    for (int64_t x = row_samples - 1; x >= 0; x--) row[2 * x] = row[2 * x + 1] = row[x];
  }
}

static bool decode(PngReader *reader, Str file, ImageOutput *output, Status *status) {
  const char *failure = "Invalid PNG data, size %zu";
  uint8_t *samples;
  if (!read_header(reader)) return status_invalid(status, "Invalid PNG. Failed to initialize decoder.");
  if (size_is_refused(reader)) {
    return status_invalid(status, "PNG size too large for int: %u by %u", (unsigned)reader->width,
                          (unsigned)reader->height);
  }
  if (is_too_short(reader)) return status_invalid(status, failure, file.length);
  ImageSize size = {.height = reader->height, .width = reader->width, .channels = reader->channels};
  int64_t row_samples = size.width * size.channels;
  int sample_size = reader->wide ? 2 : 1;
  TRY(image_output_begin(output, &size, sample_size, &samples, status));
  if (!read_rows(reader, samples, row_samples * sample_size))
    return status_invalid(status, failure, file.length);
  if (reader->wide && reader->bit_depth <= 8) widen_rows(samples, size.height, row_samples);
  return true;
}

bool png_decode(Str file, ImageOutput *output, Status *status) {
  PngReader reader = {.left = file, .wide = image_output_is_wide(output), .channels = output->channels};
  bool ok = decode(&reader, file, output, status);
  png_destroy_read_struct(&reader.png, &reader.info, NULL);
  return reader.call.out_of_memory ? status_oom(status, "a PNG image") : ok;
}
