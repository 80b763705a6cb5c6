#include "ops/codecs/jpeg_encode.h"

#include <string.h>

#include "ops/codecs/jpeg_call.h"

enum { BLOCK_BYTES = 4096 };
static const char kXmpNamespace[] = "http://ns.adobe.com/xap/1.0/"; /* followed by its NUL */
static const int64_t kMaxPixels = 1LL << 29;

typedef struct JpegWriter {
  JpegCall call;
  struct jpeg_destination_mgr destination;
  struct jpeg_compress_struct codec;
  StrBuf *out;
  JOCTET block[BLOCK_BYTES]; /* the next bytes of `out` */
} JpegWriter;

static void start_block(j_compress_ptr codec) {
  JpegWriter *writer = codec->client_data;
  writer->destination.next_output_byte = writer->block;
  writer->destination.free_in_buffer = BLOCK_BYTES;
}

static boolean flush_block(j_compress_ptr codec) {
  JpegWriter *writer = codec->client_data;
  strbuf_append_bytes(writer->out, writer->block, BLOCK_BYTES);
  start_block(codec);
  return TRUE;
}

static void flush_last(j_compress_ptr codec) {
  JpegWriter *writer = codec->client_data;
  strbuf_append_bytes(writer->out, writer->block, BLOCK_BYTES - writer->destination.free_in_buffer);
}

static void set_options(j_compress_ptr codec, const JpegOptions *options) {
  jpeg_set_defaults(codec);
  codec->optimize_coding = options->optimize_size;
  codec->density_unit = (UINT8)options->density_unit;
  codec->X_density = (UINT16)options->x_density;
  codec->Y_density = (UINT16)options->y_density;
  jpeg_set_quality(codec, options->quality, TRUE);
  if (options->progressive) jpeg_simple_progression(codec);
  for (int i = 0; i < codec->num_components && !options->chroma_downsampling; i++)
    codec->comp_info[i].h_samp_factor = codec->comp_info[i].v_samp_factor = 1;
}

static void write_metadata(j_compress_ptr codec, Str metadata) {
  if (metadata.length == 0) return;
  /* libjpeg checks the length of the marker. */
  jpeg_write_m_header(codec, JPEG_APP0 + 1, (unsigned)(sizeof kXmpNamespace + metadata.length));
  for (size_t i = 0; i < sizeof kXmpNamespace; i++) jpeg_write_m_byte(codec, kXmpNamespace[i]);
  for (size_t i = 0; i < metadata.length; i++) jpeg_write_m_byte(codec, (unsigned char)metadata.data[i]);
}

static bool write_file(JpegWriter *writer, const uint8_t *samples, const JpegOptions *options) {
  j_compress_ptr codec = &writer->codec;
  int64_t row_bytes = (int64_t)codec->image_width * codec->input_components;
  if (setjmp(writer->call.on_error)) return false;
  set_options(codec, options);
  jpeg_start_compress(codec, TRUE);
  write_metadata(codec, options->xmp_metadata);
  while (codec->next_scanline < codec->image_height) {
    JSAMPROW row = (JSAMPROW)(samples + (int64_t)codec->next_scanline * row_bytes);
    jpeg_write_scanlines(codec, &row, 1);
  }
  jpeg_finish_compress(codec);
  return true;
}

static bool open_writer(JpegWriter *writer, int64_t height, int64_t width, int channels) {
  j_compress_ptr codec = &writer->codec;
  if (setjmp(writer->call.on_error)) return false;
  jpeg_create_compress(codec);
  writer->destination = (struct jpeg_destination_mgr){.init_destination = start_block,
                                                      .empty_output_buffer = flush_block,
                                                      .term_destination = flush_last};
  codec->dest = &writer->destination;
  codec->client_data = writer;
  codec->image_width = (JDIMENSION)width;
  codec->image_height = (JDIMENSION)height;
  codec->input_components = channels;
  codec->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  return true;
}

bool jpeg_encode_file(const uint8_t *samples, int64_t height, int64_t width, int channels,
                      const JpegOptions *options, StrBuf *out, Status *status) {
  const char *failure = "JPEG encoding failed";
  JpegWriter writer = {.out = out};
  if (height <= 0 || width <= 0 || height >= kMaxPixels / width)
    return status_set(status, CODE_INTERNAL, "%s", failure);
  writer.codec.err = jpeg_call_begin(&writer.call);
  bool ok = open_writer(&writer, height, width, channels) && write_file(&writer, samples, options);
  jpeg_destroy_compress(&writer.codec);
  return ok ? strbuf_ok(out, status) : jpeg_call_failed(&writer.call, CODE_INTERNAL, failure, status);
}
