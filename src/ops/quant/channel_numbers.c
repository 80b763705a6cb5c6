#include "ops/quant/channel_numbers.h"

#include <string.h>

enum { SHORT_CHANNEL = 32 };

bool channel_numbers_begin(KernelContext *context, ChannelNumbers *numbers, int width, int64_t channels,
                           int64_t inner, Status *status) {
  int64_t all = 0, size = 0;
  memset(numbers, 0, sizeof *numbers);
  numbers->width = width;
  numbers->channels = channels;
  numbers->inner = inner;
  numbers->spread = channels > 1 && inner < SHORT_CHANNEL;
  if (numbers->spread) {
    int64_t period = channels * inner; /* of a tensor, so that it is in range */
    numbers->length = inner == 0 ? 0 : (QUANT_PIECE + period - 1) / period * period;
  }
  if (__builtin_add_overflow(channels + 1, numbers->length, &all) ||
      __builtin_mul_overflow(all, width * (int64_t)sizeof(float), &size))
    return status_oom(status, "the ranges of channels");
  if (!(numbers->buffer = kernel_scratch(context, size, status))) return false;
  numbers->of_channels = numbers->buffer->data;
  numbers->table = numbers->of_channels + channels * width;
  return true;
}

static void fill_table(ChannelNumbers *numbers) {
  for (int k = 0; k < numbers->width; k++) {
    float *to = numbers->table + k * numbers->length;
    for (int64_t at = 0; at < numbers->length; at += numbers->channels * numbers->inner) {
      for (int64_t c = 0; c < numbers->channels; c++) {
        float value = numbers->of_channels[c * numbers->width + k];
        for (int64_t i = 0; i < numbers->inner; i++) to[at + c * numbers->inner + i] = value;
      }
    }
  }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t channel_numbers_next(ChannelNumbers *numbers, int64_t left) {
  int64_t at = numbers->at, count = quant_piece(left);
  if (numbers->spread) {
    if (at == 0) fill_table(numbers);
    int64_t place = at % numbers->length;
    count = least(count, numbers->length - place);
    for (int k = 0; k < numbers->width; k++)
      numbers->piece.each[k] = numbers->table + k * numbers->length + place;
  } else {
    int64_t channel = 0;
    if (numbers->channels > 1) {
      channel = at / numbers->inner % numbers->channels;
      count = least(count, numbers->inner - at % numbers->inner);
    }
    memcpy(numbers->piece.one, numbers->of_channels + channel * numbers->width,
           (size_t)numbers->width * sizeof(float));
  }
  numbers->at += count;
  return count;
}

void channel_numbers_end(ChannelNumbers *numbers) { buffer_unref(numbers->buffer); }
