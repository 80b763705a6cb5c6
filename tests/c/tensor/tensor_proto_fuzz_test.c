/* Random tensors in every encoding a TensorProto allows, and damaged protos. */
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "tensor/tensor.h"

enum { MOST_ELEMENTS = 40, LARGEST_ELEMENT = 16, MOST_DAMAGED_ELEMENTS = 1 << 16 };

static Status status;
static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % limit);
}

static bool is_object(int dtype) { return dtype == DT_RESOURCE || dtype == DT_VARIANT; }

/* A type with elements in protos. */
static int random_dtype(void) {
  for (;;) {
    int dtype = 1 + (int)random_below(NUM_DTYPES - 1);
    if (!is_object(dtype)) return dtype;
  }
}

/* --- elements and encodings, written without the code under test --- */

/* Strings are one of these. */
static const char *const kWords[] = {"", "a", "twenty-two bytes, small",
                                     "a string that needs memory of its own", "\xff\x01"};
enum { NUM_WORDS = sizeof kWords / sizeof *kWords };

typedef struct Sample {
  int dtype, rank;
  int64_t dims[4], count;
  unsigned char elements[MOST_ELEMENTS][LARGEST_ELEMENT]; /* of a string: the index of its word */
} Sample;

static size_t sample_size(const Sample *sample) {
  return sample->dtype == DT_STRING ? 1 : dtype_size(sample->dtype);
}

static Sample random_sample(void) {
  Sample sample = {.dtype = random_dtype(), .rank = (int)random_below(5), .count = 1};
  for (int i = 0; i < sample.rank; i++) {
    int64_t limit = MOST_ELEMENTS / (sample.count > 0 ? sample.count : 1);
    sample.dims[i] = random_below(20) == 0 ? 0 : 1 + random_below((uint32_t)(limit < 4 ? limit : 4));
    if (sample.count * sample.dims[i] > MOST_ELEMENTS) sample.dims[i] = 1;
    sample.count *= sample.dims[i];
  }
  bool zeros = random_below(8) == 0, repeats = random_below(2) == 0;
  for (int64_t i = 0; i < sample.count; i++) {
    for (size_t b = 0; b < sample_size(&sample) && !zeros; b++) {
      sample.elements[i][b] = (unsigned char)random_below(sample.dtype == DT_STRING ? NUM_WORDS
                                                          : sample.dtype == DT_BOOL ? 2
                                                                                    : 256);
    }
    if (repeats && i > 0 && random_below(4) > 0)
      memcpy(sample.elements[i], sample.elements[i - 1], LARGEST_ELEMENT);
  }
  return sample;
}

static TensorProto *start_proto(const Sample *sample, Arena *arena) {
  TensorProto *proto = proto_new(kTensorProto, arena);
  proto->dtype = (Tensorflow__DataType)sample->dtype;
  proto->tensor_shape = proto_new(kTensorShapeProto, arena);
  for (int i = 0; i < sample->rank; i++) {
    TensorShapeDim *dim = proto_new(&tensorflow__tensor_shape_proto__dim__descriptor, arena);
    dim->size = sample->dims[i];
    CHECK_OK(proto_append(arena, (void ***)&proto->tensor_shape->dim, &proto->tensor_shape->n_dim, dim,
                          &status),
             status);
  }
  return proto;
}

static void put_content(const Sample *sample, Arena *arena, TensorProto *proto) {
  size_t size = sample_size(sample);
  uint8_t *bytes = arena_alloc(arena, MOST_ELEMENTS * 64), *end = bytes;
  for (int64_t i = 0; i < sample->count; i++) {
    if (sample->dtype == DT_STRING) {
      *end++ = (uint8_t)strlen(kWords[sample->elements[i][0]]); /* a varint of one byte */
    } else {
      memcpy(end, sample->elements[i], size);
      end += size;
    }
  }
  for (int64_t i = 0; sample->dtype == DT_STRING && i < sample->count; i++) {
    const char *word = kWords[sample->elements[i][0]];
    memcpy(end, word, strlen(word));
    end += strlen(word);
  }
  proto->tensor_content = (ProtobufCBinaryData){(size_t)(end - bytes), bytes};
}

/* The value of an integer of up to 32 bits, with random bits above those of its type, which parsers drop. */
static int32_t wide_value(const unsigned char *element, size_t size) {
  uint32_t value = random_below(2) == 0 ? 0 : UINT32_MAX;
  memcpy(&value, element, size);
  return (int32_t)value;
}

/* The first `count` elements into the *_val field. */
static void put_values(const Sample *sample, int64_t count, Arena *arena, TensorProto *proto) {
  size_t size = sample_size(sample), n = (size_t)count;
  unsigned char *packed = arena_alloc(arena, MOST_ELEMENTS * LARGEST_ELEMENT);
  for (size_t i = 0; i < n; i++) memcpy(packed + i * size, sample->elements[i], size);
  void *values = packed;
  switch (sample->dtype) {
    case DT_FLOAT: proto->float_val = values, proto->n_float_val = n; break;
    case DT_DOUBLE: proto->double_val = values, proto->n_double_val = n; break;
    case DT_COMPLEX64: proto->scomplex_val = values, proto->n_scomplex_val = 2 * n; break;
    case DT_COMPLEX128: proto->dcomplex_val = values, proto->n_dcomplex_val = 2 * n; break;
    case DT_INT64: proto->int64_val = values, proto->n_int64_val = n; break;
    case DT_UINT64: proto->uint64_val = values, proto->n_uint64_val = n; break;
    case DT_UINT32: proto->uint32_val = values, proto->n_uint32_val = n; break;
    case DT_BOOL:
      proto->bool_val = arena_alloc(arena, MOST_ELEMENTS * (int64_t)sizeof *proto->bool_val);
      for (size_t i = 0; i < n; i++) proto->bool_val[i] = sample->elements[i][0];
      proto->n_bool_val = n;
      break;
    case DT_STRING:
      proto->string_val = arena_alloc(arena, MOST_ELEMENTS * (int64_t)sizeof *proto->string_val);
      for (size_t i = 0; i < n; i++) {
        char *word = arena_strdup(arena, kWords[sample->elements[i][0]]);
        proto->string_val[i] = (ProtobufCBinaryData){strlen(word), (uint8_t *)word};
      }
      proto->n_string_val = n;
      break;
    default: {
      if (strncmp(dtype_name(sample->dtype), "float8", 6) == 0 ||
          strncmp(dtype_name(sample->dtype), "float4", 6) == 0) {
        proto->float8_val = (ProtobufCBinaryData){n, packed};
        break;
      }
      int32_t *wide = arena_alloc(arena, MOST_ELEMENTS * (int64_t)sizeof *wide);
      for (size_t i = 0; i < n; i++) wide[i] = wide_value(sample->elements[i], size);
      bool half = sample->dtype == DT_HALF || sample->dtype == DT_BFLOAT16;
      *(half ? &proto->half_val : &proto->int_val) = wide;
      *(half ? &proto->n_half_val : &proto->n_int_val) = n;
    }
  }
}

/* The number of elements to write when the last one repeats. */
static int64_t distinct(const Sample *sample) {
  int64_t count = sample->count;
  while (count > 1 && memcmp(sample->elements[count - 1], sample->elements[count - 2], LARGEST_ELEMENT) == 0)
    count--;
  static const unsigned char zero[LARGEST_ELEMENT];
  return count == 1 && memcmp(sample->elements[0], zero, LARGEST_ELEMENT) == 0 ? 0 : count;
}

enum { CONTENT, ALL_VALUES, SPLAT, SURPLUS, NUM_ENCODINGS };

static TensorProto *encode(const Sample *sample, int encoding, Arena *arena) {
  TensorProto *proto = start_proto(sample, arena);
  switch (encoding) {
    case CONTENT: put_content(sample, arena, proto); break;
    case ALL_VALUES: put_values(sample, sample->count, arena, proto); break;
    case SPLAT: put_values(sample, distinct(sample), arena, proto); break;
    default: put_values(sample, MOST_ELEMENTS, arena, proto); /* more elements than needed */
  }
  return proto;
}

static bool check_elements(const Tensor *tensor, const Sample *sample) {
  bool same = CHECK_INT_EQ(tensor->dtype, sample->dtype) && CHECK_INT_EQ(tensor->shape.rank, sample->rank) &&
              CHECK_INT_EQ(tensor_num_elements(tensor), sample->count);
  for (int64_t i = 0; i < sample->count && same; i++) {
    if (sample->dtype == DT_STRING) {
      same = CHECK(str_equal_text(tstring_view(&tensor_strings(tensor)[i]), kWords[sample->elements[i][0]]));
    } else {
      size_t size = sample_size(sample);
      same = CHECK_MEM_EQ((const char *)tensor->data + (size_t)i * size, sample->elements[i], size);
    }
  }
  return same;
}

static const char *print(const TensorProto *proto, Arena *arena) {
  StrBuf text = {0};
  tensor_proto_print(proto, 7, &text);
  const char *copy = arena_strdup(arena, strbuf_text(&text));
  strbuf_free(&text);
  return copy;
}

TEST(every_encoding_of_a_tensor_means_the_same) {
  random_state = 1;
  for (int round = 0; round < 4000; round++) {
    Arena *arena = arena_new();
    Sample sample = random_sample(), other = sample;
    TensorProto *protos[NUM_ENCODINGS + 1] = {0};
    Tensor tensor = {0};
    bool ok = true;
    CHECK_CONTEXT("round %d: %s", round, dtype_name(sample.dtype));
    for (int e = 0; e < NUM_ENCODINGS && ok; e++) {
      protos[e] = encode(&sample, e, arena);
      ok = CHECK_OK(tensor_proto_validate(protos[e], &status), status) &&
           CHECK_OK(tensor_from_proto(protos[e], &tensor, &status), status) &&
           check_elements(&tensor, &sample);
    }
    ok = ok && CHECK_OK(tensor_to_proto(&tensor, arena, &protos[NUM_ENCODINGS], &status), status);
    for (int a = 0; a <= NUM_ENCODINGS && ok; a++) {
      for (int b = 0; b <= NUM_ENCODINGS && ok; b++) ok = CHECK(tensor_proto_equal(protos[a], protos[b]));
      ok = ok && CHECK_STR_EQ(print(protos[a], arena), print(protos[0], arena));
    }
    if (ok && sample.count > 0) { /* one element changes */
      int64_t i = random_below((uint32_t)sample.count);
      unsigned char *byte = &other.elements[i][random_below((uint32_t)sample_size(&sample))];
      *byte = sample.dtype == DT_STRING ? (*byte + 1) % NUM_WORDS : *byte ^ 1;
      for (int e = 0; e < NUM_ENCODINGS; e++) {
        const TensorProto *changed = encode(&other, e, arena);
        CHECK(!tensor_proto_equal(changed, protos[random_below(NUM_ENCODINGS)]));
        CHECK(!tensor_proto_equal(protos[random_below(NUM_ENCODINGS)], changed));
      }
    }
    tensor_clear(&tensor);
    arena_free(arena);
    if (!ok) return;
  }
}

/* --- damage --- */

static bool same_elements(const Tensor *a, const Tensor *b) {
  if (a->dtype != b->dtype || !shape_equal(&a->shape, &b->shape)) return false;
  for (int64_t i = 0; a->dtype == DT_STRING && i < tensor_num_elements(a); i++) {
    if (!tstring_equal(&tensor_strings(a)[i], &tensor_strings(b)[i])) return false;
  }
  return a->dtype == DT_STRING || memcmp(a->data, b->data, (size_t)tensor_bytes(a)) == 0;
}

/* Bytes change, and sometimes the rest is missing. */
static void damage_bytes(StrBuf *bytes) {
  for (uint32_t hits = 1 + random_below(2); hits > 0 && bytes->length > 1; hits--) {
    int64_t at = random_below((uint32_t)bytes->length);
    switch (random_below(6)) {
      case 0: bytes->length = at > 0 ? at : 1; break;
      case 1: bytes->data[at] = (char)random_below(256); break;
      default: bytes->data[at] = (char)(bytes->data[at] ^ 1 << random_below(8));
    }
  }
}

/* Another type, another size, other lengths. */
static void damage_fields(TensorProto *proto) {
  static const int64_t sizes[] = {-1,        0,        1, 2, 3, 1 << 20, (int64_t)1 << 40, (int64_t)1 << 59,
                                  INT64_MAX, INT64_MIN};
  for (uint32_t hits = 1 + random_below(2); hits > 0; hits--) {
    size_t rank = proto->tensor_shape->n_dim;
    switch (random_below(4)) {
      case 0: proto->dtype = (Tensorflow__DataType)((int)random_below(140) - 1); break;
      case 1:
        proto->tensor_content.len -= random_below(3) < proto->tensor_content.len ? random_below(2) : 0;
        break;
      case 2: proto->tensor_shape->unknown_rank = random_below(8) == 0; break;
      default:
        if (rank == 0) break;
        proto->tensor_shape->dim[random_below((uint32_t)rank)]->size =
            sizes[random_below(sizeof sizes / sizeof *sizes)];
    }
  }
}

/* A valid proto makes a tensor or needs too much memory; an invalid one makes none; nothing else happens. */
TEST(damaged_protos_are_refused_or_tensors) {
  random_state = 2;
  int read = 0, refused = 0, giant = 0, unparsed = 0;
  for (int round = 0; round < 30000; round++) {
    Arena *arena = arena_new();
    Sample sample = random_sample();
    StrBuf bytes = {0};
    TensorProto *whole = encode(&sample, (int)random_below(NUM_ENCODINGS), arena), *copy = NULL;
    Tensor tensor = {0}, again = {0};
    void *message = NULL;
    int64_t elements = 0;
    CHECK_CONTEXT("round %d", round);
    TensorProto *twin = proto_copy(whole, arena);
    bool fields = random_below(2) == 0;
    if (fields) damage_fields(twin);
    if (CHECK_OK(proto_serialize(twin, &bytes, &status), status) && !fields) damage_bytes(&bytes);
    if (!proto_parse(kTensorProto, bytes.data, (size_t)bytes.length, arena, &message, &status)) {
      unparsed++;
    } else if (!tensor_proto_validate(message, &status)) {
      refused++;
      CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
      CHECK_STR_CONTAINS(print(message, arena), "<Invalid TensorProto: ");
      CHECK_ERROR(tensor_from_proto(message, &tensor, &status), status, CODE_INVALID_ARGUMENT, "");
      CHECK(tensor_proto_equal(message, message));
    } else if (CHECK_OK(shape_check_proto(((TensorProto *)message)->tensor_shape, &elements, &status),
                        status) &&
               elements > MOST_DAMAGED_ELEMENTS) {
      giant++;
      CHECK(!strstr(print(message, arena), "Invalid"));
      CHECK(tensor_proto_equal(message, message) && !tensor_proto_equal(message, whole));
    } else if (CHECK_OK(tensor_from_proto(message, &tensor, &status), status)) {
      read++;
      CHECK_OK(tensor_to_proto(&tensor, arena, &copy, &status), status);
      CHECK_OK(tensor_from_proto(copy, &again, &status), status);
      CHECK(same_elements(&tensor, &again) && tensor_proto_equal(message, copy));
      CHECK_OK(tensor_from_proto(whole, &again, &status), status);
      CHECK(tensor_proto_equal(whole, message) == same_elements(&tensor, &again));
    }
    strbuf_free(&bytes);
    tensor_clear(&tensor);
    tensor_clear(&again);
    arena_free(arena);
  }
  CHECK(read > 1000 && refused > 1000 && giant > 100 && unparsed > 1000);
}

TEST(scarce_memory_leaves_nothing_behind) {
  random_state = 3;
  for (int round = 0; round < 300; round++) {
    Arena *arena = arena_new();
    Sample sample = random_sample();
    TensorProto *proto = encode(&sample, (int)random_below(NUM_ENCODINGS), arena);
    bool done = false;
    for (int n = 0; n < 100 && !done; n++) {
      Arena *own = arena_new();
      Tensor tensor = {0}, copy = {0};
      TensorProto *again = NULL;
      status_init(&status);
      mem_fail_after(n);
      done = tensor_from_proto(proto, &tensor, &status) && tensor_copy(&copy, &tensor, NULL, &status) &&
             tensor_to_proto(&copy, own, &again, &status);
      mem_fail_after(-1);
      if (done) {
        CHECK(tensor_proto_equal(proto, again));
      } else {
        CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      }
      tensor_clear(&tensor);
      tensor_clear(&copy);
      arena_free(own);
    }
    CHECK(done);
    arena_free(arena);
  }
}
