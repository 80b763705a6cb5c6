#include "ops/codecs/bmp_decode.h"

#include <stdlib.h>

enum { HEADER_BYTES = 32 };
static const int64_t kMaxPixels = INT32_MAX / 8;

typedef struct BmpHeader {
  int32_t offset;        /* of the pixels */
  int32_t width, height; /* a negative height: the first row is the topmost */
  int channels;
  int64_t rows, row_bytes; /* row_bytes is a multiple of 4 */
} BmpHeader;

static int32_t read_int32(Str file, int at) {
  const uint8_t *bytes = (const uint8_t *)file.data + at;
  return (int32_t)(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);
}

static bool read_header(Str file, BmpHeader *header, Status *status) {
  if (file.length < HEADER_BYTES) {
    return status_invalid(status,
                          "Incomplete bmp content, requires at least 32 bytes to find the header size, "
                          "width, "
                          "height, and bpp, got %zu bytes",
                          file.length);
  }
  header->offset = read_int32(file, 10);
  header->width = read_int32(file, 18);
  header->height = read_int32(file, 22);
  header->channels = (int16_t)read_int32(file, 28) / 8;
  header->rows = llabs((long long)header->height);
  header->row_bytes = ((int64_t)header->channels * header->width + 3) / 4 * 4;
  return true;
}

static bool check_header(Str file, const BmpHeader *header, Status *status) {
  if (header->channels != 1 && header->channels != 3 && header->channels != 4) {
    return status_invalid(status, "Number of channels inherent in the image must be 1, 3 or 4, was %d",
                          header->channels);
  }
  if (header->width <= 0) return status_invalid(status, "Width must be positive");
  if (header->height == 0) return status_invalid(status, "Height must be nonzero");
  if (header->offset < 0) return status_invalid(status, "header size must be nonnegative");
  if (header->width * header->rows >= kMaxPixels)
    return status_invalid(status, "Total possible pixel bytes must be less than 2^30");
  int64_t difference = (int64_t)file.length - header->offset - header->row_bytes * header->rows;
  if (difference != 0) {
    return status_invalid(status,
                          "Input size should match (header_size + row_size * abs_height) but they differ by "
                          "%lld",
                          (long long)difference);
  }
  return true;
}

/* BGR becomes RGB, grey is repeated, and alpha is opaque if the file has none. */
static void convert_pixel(const uint8_t *from, int from_channels, uint8_t *to, int64_t to_channels) {
  const uint8_t *red = from_channels == 1 ? from : from + 2, *green = from_channels == 1 ? from : from + 1;
  to[0] = *red;
  if (to_channels == 1) return;
  to[1] = *green;
  to[2] = from[0];
  if (to_channels == 4) to[3] = from_channels == 4 ? from[3] : UINT8_MAX;
}

bool bmp_decode(Str file, ImageOutput *output, Status *status) {
  BmpHeader header = {0};
  uint8_t *to;
  TRY(read_header(file, &header, status));
  TRY(check_header(file, &header, status));
  ImageSize size = {.height = header.rows,
                    .width = header.width,
                    .channels = output->channels != 0 ? output->channels : header.channels};
  TRY(image_output_begin(output, &size, 1, &to, status));
  for (int64_t y = 0; y < size.height; y++) {
    int64_t row = header.height < 0 ? y : size.height - 1 - y;
    const uint8_t *from = (const uint8_t *)file.data + header.offset + row * header.row_bytes;
    for (int64_t x = 0; x < size.width; x++, from += header.channels, to += size.channels)
      convert_pixel(from, header.channels, to, size.channels);
  }
  return true;
}
