/* DecodeWav and EncodeWav: 16-bit PCM in RIFF files.
 *
 *   "RIFF" size "WAVE"  [chunks to skip]  "fmt " size format  [chunks to skip]  "data" size samples
 *
 * Numbers are little-endian. Each read is checked against the end of the file. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"

enum { HEADER_BYTES = 44, SAMPLE_BYTES = 2, FORMAT_PCM = 1 };

/* --- reading --- */

typedef struct WavReader {
  const uint8_t *data;
  int64_t size, at;
} WavReader;

typedef struct WavFormat {
  uint32_t rate, samples;
  uint16_t channels, frame_bytes; /* frame_bytes: of one sample of all channels */
  const uint8_t *values;          /* samples * channels numbers */
} WavFormat;

static bool skip(WavReader *reader, int64_t count, Status *status) {
  if (count > reader->size - reader->at)
    return status_invalid(status, "Data too short when trying to read string");
  reader->at += count;
  return true;
}

static bool read_number(WavReader *reader, int bytes, uint32_t *value, Status *status) {
  const uint8_t *from = reader->data + reader->at;
  TRY(skip(reader, bytes, status));
  *value = 0;
  for (int i = 0; i < bytes; i++) *value |= (uint32_t)from[i] << (8 * i);
  return true;
}

static bool read_id(WavReader *reader, const char **id, Status *status) {
  *id = (const char *)reader->data + reader->at;
  return skip(reader, 4, status);
}

static bool expect(WavReader *reader, const char *wanted, Status *status) {
  const char *id;
  TRY(read_id(reader, &id, status));
  return memcmp(id, wanted, 4) == 0 ||
         status_invalid(status, "Header mismatch: Expected %s but found %.4s", wanted, id);
}

/* Chunks that may come before the format. */
static bool skip_to_format(WavReader *reader, Status *status) {
  static const char kSkipped[][5] = {"JUNK", "bext", "iXML", "qlty", "mext", "levl", "link", "axml"};
  const char *id;
  for (;;) {
    uint32_t size;
    bool known = false;
    TRY(read_id(reader, &id, status));
    if (memcmp(id, "fmt ", 4) == 0) return true;
    for (size_t i = 0; i < sizeof kSkipped / sizeof kSkipped[0]; i++)
      known = known || memcmp(id, kSkipped[i], 4) == 0;
    if (!known) return status_invalid(status, "Unexpected field %.4s", id);
    TRY(read_number(reader, 4, &size, status));
    TRY(skip(reader, size, status));
  }
}

static bool check_rates(const WavFormat *format, uint32_t per_second, uint32_t bits, Status *status) {
  if (bits != 8 * SAMPLE_BYTES)
    return status_invalid(status, "Can only read 16-bit WAV files, but received %u", bits);
  uint32_t wanted = (uint32_t)SAMPLE_BYTES * format->channels;
  if (format->frame_bytes != wanted) {
    return status_invalid(status, "Bad bytes per sample in WAV header: Expected %u but got %u", wanted,
                          format->frame_bytes);
  }
  wanted = format->frame_bytes * format->rate;
  if (per_second == wanted) return true;
  return status_invalid(status,
                        "Bad bytes per second in WAV header: Expected %u but got %u (sample_rate=%u, "
                        "bytes_per_sample=%u)",
                        wanted, per_second, format->rate, format->frame_bytes);
}

static bool read_format(WavReader *reader, WavFormat *format, Status *status) {
  uint32_t size, code, channels, per_second, frame_bytes, bits;
  TRY(read_number(reader, 4, &size, status));
  if (size != 16 && size != 18)
    return status_invalid(status, "Bad format chunk size for WAV: Expected 16 or 18, but got%u", size);
  TRY(read_number(reader, 2, &code, status));
  if (code != FORMAT_PCM)
    return status_invalid(status, "Bad audio format for WAV: Expected 1 (PCM), but got%u", code);
  TRY(read_number(reader, 2, &channels, status));
  if (channels < 1) {
    return status_invalid(status, "Bad number of channels for WAV: Expected at least 1, but got %u",
                          channels);
  }
  TRY(read_number(reader, 4, &format->rate, status));
  TRY(read_number(reader, 4, &per_second, status));
  TRY(read_number(reader, 2, &frame_bytes, status));
  TRY(read_number(reader, 2, &bits, status));
  format->channels = (uint16_t)channels;
  format->frame_bytes = (uint16_t)frame_bytes;
  TRY(check_rates(format, per_second, bits, status));
  return size == 16 || skip(reader, 2, status);
}

static bool read_samples(WavReader *reader, WavFormat *format, uint32_t size, Status *status) {
  if (format->values) return status_invalid(status, "More than one data chunk found in WAV");
  format->samples = size / format->frame_bytes;
  format->values = reader->data + reader->at;
  return skip(reader, (int64_t)format->samples * format->frame_bytes, status);
}

static bool read_wav(WavReader *reader, WavFormat *format, Status *status) {
  uint32_t size;
  TRY(expect(reader, "RIFF", status));
  TRY(read_number(reader, 4, &size, status));
  TRY(expect(reader, "WAVE", status));
  TRY(skip_to_format(reader, status));
  TRY(read_format(reader, format, status));
  while (reader->at < reader->size) {
    const char *id;
    TRY(read_id(reader, &id, status));
    TRY(read_number(reader, 4, &size, status));
    if (size > INT32_MAX) {
      return status_invalid(status, "WAV data chunk '%.4s' is too large: %u bytes, but the limit is %d", id,
                            size, INT32_MAX);
    }
    if (memcmp(id, "data", 4) == 0) TRY(read_samples(reader, format, size, status));
    else reader->at += size; /* a last chunk may be cut off */
  }
  return format->values || status_invalid(status, "No data chunk found in WAV");
}

/* --- DecodeWav --- */

typedef struct DecodeState {
  int32_t channels, samples; /* -1: those of the file */
} DecodeState;

static bool decode_construct(const KernelConstruction *construction, void *memory, Status *status) {
  DecodeState *state = memory;
  TRY(node_attr_int32(construction->node, "desired_channels", &state->channels, status));
  return node_attr_int32(construction->node, "desired_samples", &state->samples, status);
}

static float sample_at(const WavFormat *format, int64_t sample, int64_t channel) {
  int64_t from = channel < format->channels ? channel : format->channels - 1;
  const uint8_t *bytes = format->values + SAMPLE_BYTES * (sample * format->channels + from);
  return (float)(int16_t)(bytes[0] | bytes[1] << 8) / 32768;
}

static bool decode_wav(KernelContext *context, Status *status) {
  const DecodeState *state = context->state;
  const Tensor *contents = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  WavFormat format = {0};
  Tensor *audio, *rate;
  if (!tensor_is_scalar(contents)) {
    return status_invalid(status, "contents must be scalar, got shape %s",
                          shape_text(&contents->shape, text));
  }
  Str view = tstring_view(tensor_strings(contents));
  WavReader reader = {(const uint8_t *)view.data, (int64_t)view.length, 0};
  if (reader.size > INT32_MAX)
    return status_invalid(status, "WAV contents are too large for int: %" PRId64, reader.size);
  TRY(read_wav(&reader, &format, status));
  if (state->channels < -1)
    return status_invalid(status, "desired_channels must be >= -1, got %d", state->channels);
  if (state->samples < -1)
    return status_invalid(status, "desired_samples must be >= -1, got %d", state->samples);
  int64_t samples = state->samples == -1 ? (int64_t)format.samples : state->samples;
  int64_t channels = state->channels == -1 ? format.channels : state->channels;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){samples, channels}, &audio, status));
  TRY(kernel_allocate_output_dims(context, 1, 0, NULL, &rate, status));
  for (int64_t i = 0; i < samples; i++) {
    for (int64_t k = 0; k < channels; k++)
      tensor_f32(audio)[i * channels + k] = i < format.samples ? sample_at(&format, i, k) : 0;
  }
  tensor_i32(rate)[0] = (int32_t)format.rate;
  return true;
}

static bool wanted_dim(InferenceContext *c, const char *attr, const char *what, DimHandle *dim,
                       Status *status) {
  int32_t wanted;
  TRY(node_attr_int32(c->node, attr, &wanted, status));
  if (wanted < -1) return status_invalid(status, "%s must be non-negative, got %d", what, wanted);
  return dim_ok(wanted == -1 ? dim_unknown(c) : dim_make(c, wanted), dim, status);
}

static bool decode_shape(InferenceContext *c, Status *status) {
  ShapeHandle contents, audio;
  DimHandle samples, channels;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &contents, status));
  TRY(wanted_dim(c, "desired_channels", "channels", &channels, status));
  TRY(wanted_dim(c, "desired_samples", "samples", &samples, status));
  TRY(shape_ok(shape_matrix(c, samples, channels), &audio, status));
  shape_set_output(c, 0, audio);
  shape_set_output(c, 1, contents);
  return true;
}

const OpRegistration kOpDecodeWav = {
    .name = "DecodeWav",
    .inputs = {"contents: string"},
    .outputs = {"audio: float", "sample_rate: int32"},
    .attrs = {"desired_channels: int = -1", "desired_samples: int = -1"},
    .shape = decode_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DecodeState),
    .construct = decode_construct,
    .kernels = {{DT_INVALID, decode_wav}},
};

/* --- EncodeWav --- */

static uint8_t *put_number(uint8_t *to, int bytes, uint32_t value) {
  for (int i = 0; i < bytes; i++) *to++ = (uint8_t)(value >> (8 * i));
  return to;
}

static uint8_t *put_id(uint8_t *to, const char *id) {
  memcpy(to, id, 4);
  return to + 4;
}

static void write_wav(const float *audio, uint32_t samples, uint32_t channels, uint32_t rate, uint8_t *to) {
  uint32_t frame = SAMPLE_BYTES * channels, size = samples * frame;
  to = put_number(put_id(to, "RIFF"), 4, HEADER_BYTES + size - 8);
  to = put_number(put_id(put_id(to, "WAVE"), "fmt "), 4, 16);
  to = put_number(put_number(to, 2, FORMAT_PCM), 2, channels);
  to = put_number(put_number(to, 4, rate), 4, rate * frame);
  to = put_number(put_number(to, 2, frame), 2, 8 * SAMPLE_BYTES);
  to = put_number(put_id(to, "data"), 4, size);
  for (uint32_t i = 0; i < samples * channels; i++) {
    float value = roundf(audio[i] * 32768);
    value = value > -32768 ? value : -32768; /* NaN too */
    to = put_number(to, SAMPLE_BYTES, (uint32_t)(int32_t)(value < 32767 ? value : 32767));
  }
}

static bool check_audio(const KernelContext *context, Status *status) {
  const Tensor *audio = context->inputs[0], *rate = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (audio->shape.rank != 2)
    return status_invalid(status, "audio must be 2-dimensional%s", shape_text(&audio->shape, text));
  if (!tensor_is_scalar(rate)) {
    return status_invalid(status, "Input sample_rate should be a scalar tensor, got %s instead.",
                          shape_text(&rate->shape, text));
  }
  if (tensor_num_elements(audio) >= INT32_MAX)
    return status_invalid(status, "Cannot encode audio with >= max int32 elements");
  int64_t channels = shape_dim(&audio->shape, 1), per_second = tensor_i32(rate)[0];
  if (per_second <= 0) { /* a negative number is one of 64 bits without a sign in TensorFlow */
    return status_invalid(status, "sample_rate must be in (0, 2^32), got: %" PRIu64, (uint64_t)per_second);
  }
  if (channels <= 0 || channels > UINT16_MAX)
    return status_invalid(status, "num_channels must be in (0, 2^16), got: %" PRId64, channels);
  if (HEADER_BYTES + SAMPLE_BYTES * tensor_num_elements(audio) <= UINT32_MAX) return true;
  return status_invalid(status, "Provided channels and frames cannot be encoded as a WAV.");
}

static bool encode_wav(KernelContext *context, Status *status) {
  Tensor *contents;
  TRY(check_audio(context, status));
  const Tensor *audio = context->inputs[0];
  int64_t size = HEADER_BYTES + SAMPLE_BYTES * tensor_num_elements(audio);
  Buffer *buffer = kernel_scratch(context, size, status);
  if (!buffer) return false;
  write_wav(tensor_f32(audio), (uint32_t)shape_dim(&audio->shape, 0), (uint32_t)shape_dim(&audio->shape, 1),
            (uint32_t)tensor_i32(context->inputs[1])[0], buffer->data);
  bool ok = kernel_allocate_output_dims(context, 0, 0, NULL, &contents, status) &&
            tstring_set(tensor_strings(contents), buffer->data, (size_t)size, status);
  buffer_unref(buffer);
  return ok;
}

static bool encode_shape(InferenceContext *c, Status *status) {
  ShapeHandle audio, rate;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &audio, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &rate, status));
  shape_set_output(c, 0, rate);
  return true;
}

const OpRegistration kOpEncodeWav = {
    .name = "EncodeWav",
    .inputs = {"audio: float", "sample_rate: int32"},
    .outputs = {"contents: string"},
    .shape = encode_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, encode_wav}},
};
