#include "ops/codecs/image_output.h"

#include <string.h>

/* The samples are at the end of the output's memory, so that they can be widened from the first to the last
 * in place. */
static uint8_t *samples_of(const ImageOutput *output) {
  int64_t unused = (int64_t)dtype_size(output->dtype) - output->sample_size;
  return (uint8_t *)output->tensor->data + unused * tensor_num_elements(output->tensor);
}

bool image_output_begin(ImageOutput *output, const ImageSize *size, int sample_size, uint8_t **samples,
                        Status *status) {
  int64_t dims[] = {size->frames == 0 ? 1 : size->frames, size->height, size->width, size->channels};
  bool has_frames =
      output->rule == FRAMES_ALWAYS || (output->rule == FRAMES_OF_ANIMATIONS && size->frames > 0);
  if (output->rule == FRAMES_SINGLE && size->frames > 1) {
    return status_invalid(status,
                          "Got %lld frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                          "tf.io.decode_image",
                          (long long)size->frames);
  }
  output->sample_size = sample_size;
  TRY(kernel_allocate_output_dims(output->context, 0, has_frames ? 4 : 3, dims + !has_frames, &output->tensor,
                                  status));
  *samples = samples_of(output);
  return true;
}

void image_output_finish(ImageOutput *output) {
  int64_t count = tensor_num_elements(output->tensor);
  const uint8_t *from = samples_of(output);
  void *to = output->tensor->data;
  if (output->dtype == DT_FLOAT && output->sample_size == 2) {
    const float scale = 1.0f / UINT16_MAX;
    for (int64_t i = 0; i < count; i++) {
      uint16_t sample;
      memcpy(&sample, from + 2 * i, sizeof sample);
      ((float *)to)[i] = (float)sample * scale;
    }
  } else if (output->dtype == DT_FLOAT) {
    const float scale = 1.0f / UINT8_MAX;
    for (int64_t i = 0; i < count; i++) ((float *)to)[i] = (float)from[i] * scale;
  } else if (output->dtype == DT_UINT16 && output->sample_size == 1) {
    for (int64_t i = 0; i < count; i++) ((uint16_t *)to)[i] = (uint16_t)(from[i] << 8);
  }
}
