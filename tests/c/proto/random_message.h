/* Shared by the tests of proto/: random messages guided by the descriptors, allocation failures, nested
 * bytes. */
#ifndef TFCORE_TESTS_PROTO_RANDOM_MESSAGE_H_
#define TFCORE_TESTS_PROTO_RANDOM_MESSAGE_H_

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "proto/proto.h"

typedef struct Random {
  uint64_t state;
  Arena *arena;
  bool nans; /* floats with any bits; text format has only one NaN */
} Random;

static inline uint64_t random_next(Random *random) {
  random->state ^= random->state << 13;
  random->state ^= random->state >> 7;
  random->state ^= random->state << 17;
  return random->state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t random_below(Random *random, uint64_t limit) {
  return (random_next(random) >> 20) % limit;
}

static inline char *random_text(Random *random) {
  static const char *const pieces[] = {"a",    "Z_9",  " ",    "\n",       "\"",           "\\",
                                       "'",    "\x01", "\x7f", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                       "^x:0", "{",    "#",    "\t"};
  char text[64] = "";
  for (uint64_t i = random_below(random, 6); i > 0; i--) strcat(text, pieces[random_below(random, 16)]);
  return arena_strdup(random->arena, text);
}

static inline ProtoMessage *random_message(Random *random, const ProtoDescriptor *descriptor, int depth);

static inline uint64_t random_bits(Random *random) {
  static const uint64_t corners[] =
      {0, 1, 127, 128, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000};
  uint64_t choice = random_below(random, 12);
  if (choice < 9) return corners[choice];
  return random_next(random) >> random_below(random, 64);
}

static inline void random_element(Random *random, const ProtobufCFieldDescriptor *field, void *to,
                                  int depth) {
  uint64_t bits = random_bits(random);
  switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: *(char **)to = random_text(random); break;
    case PROTOBUF_C_TYPE_BYTES: {
      ProtobufCBinaryData *bytes = to;
      bytes->len = random_below(random, 5);
      bytes->data = arena_alloc(random->arena, 8);
      bits = random_next(random);
      memcpy(bytes->data, &bits, 8);
      break;
    }
    case PROTOBUF_C_TYPE_MESSAGE:
      *(ProtoMessage **)to = random_message(random, field->descriptor, depth + 1);
      break;
    case PROTOBUF_C_TYPE_BOOL: *(protobuf_c_boolean *)to = (protobuf_c_boolean)(bits & 1); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_UINT64: memcpy(to, &bits, 8); break;
    case PROTOBUF_C_TYPE_FLOAT: {
      float value;
      uint32_t low = (uint32_t)random_next(random);
      memcpy(&value, &low, 4);
      if (value != value && !random->nans) value = 0.1f;
      memcpy(to, &value, 4);
      break;
    }
    case PROTOBUF_C_TYPE_DOUBLE: {
      double value;
      bits = random_next(random);
      memcpy(&value, &bits, 8);
      if (value != value && !random->nans) value = 0.1;
      memcpy(to, &value, 8);
      break;
    }
    default: memcpy(to, &bits, 4); /* enums get unknown numbers as well: proto3 keeps them */
  }
}

static inline size_t random_element_size(const ProtobufCFieldDescriptor *field) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    default: return 4;
  }
}

static inline bool random_is_map(const ProtobufCFieldDescriptor *field) {
  const ProtoDescriptor *entry = field->descriptor;
  return field->type == PROTOBUF_C_TYPE_MESSAGE && entry->n_fields == 2 &&
         strcmp(entry->fields[0].name, "key") == 0;
}

/* Gives map entry `i` a unique key in its map. */
static inline void random_unique_key(Random *random, ProtoMessage *entry, uint64_t i) {
  const ProtobufCFieldDescriptor *key = &entry->descriptor->fields[0];
  void *member = (char *)entry + key->offset;
  if (key->type == PROTOBUF_C_TYPE_STRING) {
    *(char **)member = arena_printf(random->arena, "%s%d", random_text(random), (int)i);
  } else if (key->type == PROTOBUF_C_TYPE_FIXED64) {
    *(uint64_t *)member = i * 0x100000001; /* different in both halves */
  } else {
    *(uint32_t *)member = (uint32_t)i * 7919;
  }
}

static inline ProtoMessage *random_message(Random *random, const ProtoDescriptor *descriptor, int depth) {
  ProtoMessage *message = proto_new(descriptor, random->arena);
  bool is_entry = descriptor->n_fields == 2 && strcmp(descriptor->fields[0].name, "key") == 0;
  for (unsigned i = 0; i < descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
    void *member = (char *)message + field->offset;
    uint32_t *quantifier = (uint32_t *)(void *)((char *)message + field->quantifier_offset);
    bool nested = field->type == PROTOBUF_C_TYPE_MESSAGE;
    if (!is_entry && (random_below(random, 3) == 0 || (nested && depth > 6))) continue;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
      uint64_t count = random_below(random, nested ? 3 : 6);
      if (count == 0) continue;
      size_t size = random_element_size(field);
      char *array = arena_calloc(random->arena, (int64_t)count, (int64_t)size);
      for (uint64_t k = 0; k < count; k++) {
        random_element(random, field, array + k * size, depth);
        if (random_is_map(field)) random_unique_key(random, *(ProtoMessage **)(void *)(array + k * size), k);
      }
      memcpy(member, &array, sizeof array);
      size_t n = (size_t)count;
      memcpy(quantifier, &n, sizeof n);
    } else if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
      if (*quantifier != 0) continue;
      *quantifier = field->id;
      random_element(random, field, member, depth);
    } else {
      random_element(random, field, member, depth);
    }
  }
  return message;
}

/* Runs `body` with the first, second, ... allocation failing until it succeeds: each failure must be
 * RESOURCE_EXHAUSTED. The harness detects leaks. */
static inline void check_every_allocation_failure(bool (*body)(void *context, Status *status),
                                                  void *context) {
  for (int n = 0; n < 100000; n++) {
    Status status;
    status_init(&status);
    mem_fail_after(n);
    bool ok = body(context, &status);
    mem_fail_after(-1);
    if (ok) {
      CHECK(n > 0);
      return;
    }
    CHECK_CONTEXT("allocation %d", n);
    if (!CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED)) return;
  }
  CHECK(!"the body succeeds at last");
}

/* The bytes of a TensorProto with `levels` messages nested below it, at the end of `buffer` of `capacity`
 * bytes. */
static inline const uint8_t *nested_bytes(uint8_t *buffer, size_t capacity, int levels, size_t *length) {
  uint8_t *p = buffer + capacity;
  for (int i = levels; i > 0; i--) {
    size_t inside = (size_t)(buffer + capacity - p);
    uint8_t prefix[12];
    size_t n = 0;
    prefix[n++] =
        i % 2 == 1 ? 15 << 3 | 2 : 3 << 3 | 2; /* TensorProto.variant_val, VariantTensorDataProto.tensors */
    for (; inside >= 0x80; inside >>= 7) prefix[n++] = (uint8_t)(inside | 0x80);
    prefix[n++] = (uint8_t)inside;
    p -= n;
    memcpy(p, prefix, n);
  }
  *length = (size_t)(buffer + capacity - p);
  return p;
}

/* A graph with all kinds of content. */
static const char kSampleGraph[] =
    "node { name: 'a' op: 'Const' device: '/cpu:0' attr { key: 'dtype' value { type: DT_FLOAT } }"
    "  attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1, "
    "-2.5] } } } }\n"
    "node { name: 'b' op: 'Pack' input: ['a', 'a:0', '^a'] attr { key: 'N' value { i: 2 } }"
    "  attr { key: 'axis' value { i: -1 } } attr { key: 'l' value { list { i: [1, 300, -7] s: 'x' } } }"
    "  attr { key: '_shapes' value { list { shape { dim { size: -1 } dim { size: 5 name: 'n' } } shape { "
    "unknown_rank: true } } } }"
    "  attr { key: 'f' value { func { name: 'g' attr { key: 'T' value { placeholder: 'T' } } } } } }\n"
    "versions { producer: 134 min_consumer: 12 bad_consumers: [1, 2] }\n"
    "library { function { signature { name: 'g' input_arg { name: 'x' type_attr: 'T' } output_arg { name: "
    "'y' type: DT_INT32 }"
    "    attr { name: 'T' type: 'type' allowed_values { list { type: [DT_FLOAT, DT_INT32] } } } is_stateful: "
    "true }"
    "  node_def { name: 'n' op: 'Neg' input: 'x' attr { key: 'T' value { placeholder: 'T' } } } ret { key: "
    "'y' value: 'n:y:0' }"
    "  arg_attr { key: 0 value { attr { key: '_a' value { b: true } } } } resource_arg_unique_id { key: 3 "
    "value: 4 } }"
    "  gradient { function_name: 'g' gradient_func: 'h' } }";

#endif
