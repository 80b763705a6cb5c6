#include "ops/codecs/png_encode.h"

#include <zlib.h>

#include "ops/codecs/png_memory.h"

typedef struct PngWriter {
  PngCall call;
  png_structp png;
  png_infop info;
  StrBuf *out;
} PngWriter;

static void write_bytes(png_structp png, png_bytep bytes, size_t length) {
  strbuf_append_bytes(((PngWriter *)png_get_io_ptr(png))->out, bytes, length);
}

static void flush_nothing(png_structp png) { (void)png; }

static bool write_file(PngWriter *writer, const PngPixels *pixels, int compression) {
  static const int kColorTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                    PNG_COLOR_TYPE_RGB_ALPHA};
  int64_t row_bytes = pixels->width * pixels->channels * pixels->sample_bits / 8;
  if (setjmp(writer->call.on_error)) return false;
  writer->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &writer->call, png_fail, png_ignore,
                                          &writer->call, png_allocate, png_release);
  writer->info = writer->png ? png_create_info_struct(writer->png) : NULL;
  if (!writer->info) return false;
  png_set_write_fn(writer->png, writer, write_bytes, flush_nothing);
  png_set_compression_level(writer->png, compression < 0 ? Z_DEFAULT_COMPRESSION : compression);
  png_set_compression_mem_level(writer->png, MAX_MEM_LEVEL);
  png_set_IHDR(writer->png, writer->info, (png_uint_32)pixels->width, (png_uint_32)pixels->height,
               pixels->sample_bits, kColorTypes[pixels->channels - 1], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer->png, writer->info);
  if (pixels->sample_bits > 8) png_set_swap(writer->png);
  for (int64_t y = 0; y < pixels->height; y++)
    png_write_row(writer->png, (const png_byte *)pixels->samples + y * row_bytes);
  png_write_end(writer->png, NULL);
  return true;
}

bool png_encode_file(const PngPixels *pixels, int compression, StrBuf *out, Status *status) {
  PngWriter writer = {.out = out};
  bool ok = pixels->width > 0 && pixels->height > 0 && write_file(&writer, pixels, compression);
  png_destroy_write_struct(&writer.png, &writer.info);
  if (writer.call.out_of_memory) return status_oom(status, "a PNG image");
  return ok ? strbuf_ok(out, status) : status_set(status, CODE_INTERNAL, "PNG encoding failed");
}
