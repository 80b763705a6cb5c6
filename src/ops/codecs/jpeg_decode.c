#include "ops/codecs/jpeg_decode.h"

#include <jerror.h>
#include <string.h>

#include "ops/codecs/jpeg_source.h"

const JpegSettings kJpegDefaults = {.ratio = 1, .fancy_upscaling = true, .acceptable_fraction = 1};

/* Passes over the image that a progressive file may need. Encoders make about ten; a hostile file of a few
 * bytes per pass could keep the decoder busy for hours. */
enum { MAX_SCANS = 500 };

typedef struct JpegWindow {
  int64_t y, x, height, width;
} JpegWindow;

typedef struct JpegReader {
  JpegCall call;
  JpegSource source;
  struct jpeg_progress_mgr progress;
  struct jpeg_decompress_struct codec;
  JpegWindow window; /* what is wanted of the image */
  int channels;
  bool crops;
  uint8_t *samples;
  int64_t rows; /* that were read */
} JpegReader;

static void stop_after_many_scans(j_common_ptr codec) {
  if (((j_decompress_ptr)codec)->input_scan_number > MAX_SCANS) ERREXIT(codec, JERR_INPUT_EOF);
}

static void open_reader(JpegReader *reader, Str file, bool try_recover_truncated) {
  jpeg_create_decompress(&reader->codec);
  reader->progress.progress_monitor = stop_after_many_scans;
  reader->codec.progress = &reader->progress;
  jpeg_source_open(&reader->source, file, try_recover_truncated, &reader->codec);
  jpeg_read_header(&reader->codec, TRUE);
}

/* CMYK is converted to RGB by this file, because libjpeg cannot. */
static void choose_colors(JpegReader *reader) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  bool four = codec->jpeg_color_space == JCS_CMYK || codec->jpeg_color_space == JCS_YCCK;
  if (reader->channels == 0) reader->channels = codec->num_components < 3 ? codec->num_components : 3;
  codec->out_color_space = reader->channels == 1 ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
}

/* Whether the image has a size that TensorFlow decodes, and the window is inside. */
static bool size_is_valid(const JpegReader *reader) {
  int64_t height = reader->codec.output_height, width = reader->codec.output_width;
  const JpegWindow *window = &reader->window;
  return height > 0 && width > 0 && height * width * reader->codec.num_components < IMAGE_MAX_PIXELS &&
         window->height > 0 && window->width > 0 && window->y >= 0 && window->x >= 0 &&
         window->y + window->height <= height && window->x + window->width <= width;
}

static bool read_header(JpegReader *reader, Str file, const JpegSettings *settings) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  if (setjmp(reader->call.on_error)) return false;
  open_reader(reader, file, settings->try_recover_truncated);
  choose_colors(reader);
  if (reader->channels != 1 && reader->channels != 3) return false;
  codec->do_fancy_upsampling = settings->fancy_upscaling;
  codec->scale_num = 1;
  codec->scale_denom = (unsigned)settings->ratio;
  codec->dct_method = settings->accurate_dct ? JDCT_ISLOW : JDCT_IFAST;
  jpeg_calc_output_dimensions(codec);
  if (!reader->crops) reader->window = (JpegWindow){0, 0, codec->output_height, codec->output_width};
  return size_is_valid(reader);
}

static void cmyk_to_rgb(const JSAMPLE *from, int64_t width, bool inverted, uint8_t *to) {
  for (int64_t x = 0; x < width; x++, from += 4, to += 3) {
    int k = inverted ? from[3] : 255 - from[3];
    for (int c = 0; c < 3; c++) to[c] = (uint8_t)(k * (inverted ? from[c] : 255 - from[c]) / 255);
  }
}

/* Reads one row of the window. libjpeg's row may begin left of it. Returns whether there was one. */
static bool read_row(JpegReader *reader, JSAMPARRAY scratch, uint8_t *to) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  int64_t before = (int64_t)codec->output_width - reader->window.width;
  bool cmyk = codec->out_color_space == JCS_CMYK;
  JSAMPROW direct = to;
  if (!cmyk && before == 0) return jpeg_read_scanlines(codec, &direct, 1) == 1;
  if (jpeg_read_scanlines(codec, scratch, 1) != 1) return false;
  const JSAMPLE *row = scratch[0] + before * codec->output_components;
  if (cmyk) cmyk_to_rgb(row, reader->window.width, codec->saw_Adobe_marker, to);
  else memcpy(to, row, (size_t)(reader->window.width * reader->channels));
  return true;
}

static void skip_to_window(JpegReader *reader) {
  JDIMENSION x = (JDIMENSION)reader->window.x, width = (JDIMENSION)reader->window.width;
  jpeg_crop_scanline(&reader->codec, &x, &width);
  jpeg_skip_scanlines(&reader->codec, (JDIMENSION)reader->window.y);
}

/* Reads the rows; false if the file is damaged. If it ends early, reader->rows are those that were read. */
static bool read_rows(JpegReader *reader) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  int64_t row_bytes = reader->window.width * reader->channels;
  if (setjmp(reader->call.on_error)) return false;
  jpeg_start_decompress(codec);
  if (reader->crops) skip_to_window(reader);
  JSAMPARRAY scratch =
      codec->mem->alloc_sarray((j_common_ptr)codec, JPOOL_IMAGE,
                               codec->output_width * (JDIMENSION)codec->output_components, 1);
  while (reader->rows < reader->window.height &&
         read_row(reader, scratch, reader->samples + reader->rows * row_bytes))
    reader->rows++;
  if (reader->rows < reader->window.height) return true;
  if (codec->output_scanline < codec->output_height)
    jpeg_skip_scanlines(codec, codec->output_height - codec->output_scanline);
  jpeg_finish_decompress(codec);
  return true;
}

static bool decode(JpegReader *reader, Str file, const JpegSettings *settings, ImageOutput *output,
                   Status *status) {
  const char *failure = "jpeg::Uncompress failed. Invalid JPEG data or crop window.";
  if (!read_header(reader, file, settings))
    return jpeg_call_failed(&reader->call, CODE_INVALID_ARGUMENT, failure, status);
  ImageSize size = {.height = reader->window.height,
                    .width = reader->window.width,
                    .channels = reader->channels};
  TRY(image_output_begin(output, &size, 1, &reader->samples, status));
  if (!read_rows(reader)) return jpeg_call_failed(&reader->call, CODE_INVALID_ARGUMENT, failure, status);
  float least = settings->acceptable_fraction < 1 ? settings->acceptable_fraction : 1;
  if ((float)reader->rows / (float)size.height < least)
    return jpeg_call_failed(&reader->call, CODE_INVALID_ARGUMENT, failure, status);
  int64_t row_bytes = size.width * size.channels;
  memset(reader->samples + reader->rows * row_bytes, 0, (size_t)((size.height - reader->rows) * row_bytes));
  return true;
}

bool jpeg_decode(Str file, const JpegSettings *settings, const int32_t *crop, ImageOutput *output,
                 Status *status) {
  JpegReader reader = {.channels = output->channels, .crops = crop != NULL};
  if (crop) reader.window = (JpegWindow){crop[0], crop[1], crop[2], crop[3]};
  reader.codec.err = jpeg_call_begin(&reader.call);
  bool ok = decode(&reader, file, settings, output, status);
  jpeg_destroy_decompress(&reader.codec);
  return ok;
}

static bool read_size(JpegReader *reader, Str file, ImageSize *size) {
  if (setjmp(reader->call.on_error)) return false;
  open_reader(reader, file, false);
  jpeg_calc_output_dimensions(&reader->codec);
  *size = (ImageSize){.height = reader->codec.output_height,
                      .width = reader->codec.output_width,
                      .channels = reader->codec.output_components};
  return true;
}

bool jpeg_read_size(Str file, ImageSize *size, Status *status) {
  JpegReader reader = {.channels = 0};
  char words[64];
  reader.codec.err = jpeg_call_begin(&reader.call);
  bool ok = read_size(&reader, file, size);
  jpeg_destroy_decompress(&reader.codec);
  if (ok) return true;
  snprintf(words, sizeof words, "Invalid JPEG data, size %zu", file.length);
  return jpeg_call_failed(&reader.call, CODE_INVALID_ARGUMENT, words, status);
}
