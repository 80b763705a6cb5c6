#include "function/function_hash.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/tensor.h"

/* The seed of the hashes. */
static const uint64_t SEED = 0xDECAFCAFFE;

typedef struct Hasher {
  Arena *arena;
  Status *status;
} Hasher;

/* --- bytes --- */

/* MurmurHash64A. */
static uint64_t hash_with_seed(const void *bytes, size_t length, uint64_t seed) {
  enum { SHIFT = 47 };
  const uint64_t factor = 0xc6a4a7935bd1e995u;
  const uint8_t *p = bytes;
  uint64_t hash = seed ^ (length * factor);
  for (; length >= 8; p += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    word *= factor;
    word ^= word >> SHIFT;
    hash = (hash ^ (word * factor)) * factor;
  }
  if (length > 0) {
    uint64_t tail = 0;
    for (size_t i = 0; i < length; i++) tail |= (uint64_t)p[i] << (8 * i);
    hash = (hash ^ tail) * factor;
  }
  hash = (hash ^ (hash >> SHIFT)) * factor;
  return hash ^ (hash >> SHIFT);
}

static uint64_t hash_text(const char *text, uint64_t seed) {
  return hash_with_seed(text, strlen(text), seed);
}

static uint64_t combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800u + (a << 10) + (a >> 4));
}

static bool hash_message(Hasher *h, const void *message, uint64_t seed, uint64_t *hash) {
  StrBuf bytes = {0};
  bool ok = proto_serialize(message, &bytes, h->status) && strbuf_ok(&bytes, h->status);
  if (ok) *hash = hash_with_seed(strbuf_text(&bytes), (size_t)bytes.length, seed);
  strbuf_free(&bytes);
  return ok;
}

/* --- sorting --- */

/* Map entries of all maps begin with the message header and the key. */
static int by_key(const void *a, const void *b) {
  return strcmp((*(const AttrEntry *const *)a)->key, (*(const AttrEntry *const *)b)->key);
}

static int by_node_name(const void *a, const void *b) {
  return strcmp((*(const NodeDef *const *)a)->name, (*(const NodeDef *const *)b)->name);
}

static int by_attr_name(const void *a, const void *b) {
  return strcmp((*(const AttrDef *const *)a)->name, (*(const AttrDef *const *)b)->name);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The pointers of a repeated field, sorted; NULL, with status, when out of memory. */
static void *sorted(Hasher *h, const void *array, size_t count, int (*compare)(const void *, const void *)) {
  void **copy = arena_calloc(h->arena, (int64_t)count + 1, sizeof *copy);
  if (!copy) status_oom(h->status, "the hash of a function");
  if (!copy || count == 0) return copy;
  memcpy(copy, array, count * sizeof *copy);
  qsort(copy, count, sizeof *copy, compare);
  return copy;
}

/* --- attrs --- */

/* The content of a string tensor: first the lengths, then all bytes. */
static void encode_strings(const Tensor *tensor, StrBuf *out) {
  int64_t count = tensor_num_elements(tensor);
  for (int64_t i = 0; i < count; i++) {
    size_t length = tstring_view(&tensor_strings(tensor)[i]).length;
    for (; length >= 128; length >>= 7) strbuf_append_char(out, (char)(length | 128));
    strbuf_append_char(out, (char)length);
  }
  for (int64_t i = 0; i < count; i++) {
    Str text = tstring_view(&tensor_strings(tensor)[i]);
    strbuf_append_bytes(out, text.data, text.length);
  }
}

/* Hashes the elements, independent of their encoding. */
static bool hash_tensor(Hasher *h, const TensorProto *proto, uint64_t *hash) {
  Tensor tensor = {0};
  Status found;
  StrBuf strings = {0};
  bool ok = false;
  status_init(&found);
  if (!tensor_from_proto(proto, &tensor, &found)) {
    if (found.code == CODE_RESOURCE_EXHAUSTED) return status_oom(h->status, "the hash of a function");
    return hash_message(h, proto, SEED, hash);
  }
  TensorProto *plain = proto_new(kTensorProto, h->arena);
  AttrValue *shape = attr_value_shape(h->arena, 0, NULL);
  if (!plain || !shape) {
    status_oom(h->status, "the hash of a function");
    goto done;
  }
  if (tensor.dtype == DT_STRING) encode_strings(&tensor, &strings);
  TRY_DONE(strbuf_ok(&strings, h->status));
  plain->dtype = proto->dtype;
  plain->tensor_shape = proto->tensor_shape ? proto->tensor_shape : shape->shape;
  plain->tensor_content.data = tensor.dtype == DT_STRING ? (uint8_t *)strings.data : tensor.data;
  plain->tensor_content.len =
      tensor.dtype == DT_STRING ? (size_t)strings.length : (size_t)tensor_bytes(&tensor);
  ok = hash_message(h, plain, SEED, hash);
done:
  strbuf_free(&strings);
  tensor_clear(&tensor);
  return ok;
}

static bool sort_func(Hasher *h, NameAttrList *func);

/* Map entries inside lists of functions are sorted, so that the bytes do not depend on their order. */
static bool sort_funcs(Hasher *h, AttrValue *value) {
  if (value->value_case == (int)ATTR_FUNC) return sort_func(h, value->func);
  if (value->value_case != (int)ATTR_LIST) return true;
  for (size_t i = 0; i < value->list->n_func; i++) TRY(sort_func(h, value->list->func[i]));
  return true;
}

static bool sort_func(Hasher *h, NameAttrList *func) {
  func->attr = sorted(h, func->attr, func->n_attr, by_key);
  if (!func->attr) return false;
  for (size_t i = 0; i < func->n_attr; i++) TRY(sort_funcs(h, func->attr[i]->value));
  return true;
}

static bool hash_attr(Hasher *h, const AttrValue *value, uint64_t *hash) {
  if (!value) {
    *hash = hash_text("", SEED);
    return true;
  }
  if (value->value_case == (int)ATTR_TENSOR) return hash_tensor(h, value->tensor, hash);
  if (value->value_case == (int)ATTR_FUNC) {
    uint64_t result = hash_text(value->func->name, SEED), of_value;
    FuncAttrEntry **attrs = sorted(h, value->func->attr, value->func->n_attr, by_key);
    if (!attrs) return false;
    for (size_t i = 0; i < value->func->n_attr; i++) {
      TRY(hash_attr(h, attrs[i]->value, &of_value));
      result = combine(of_value, hash_text(attrs[i]->key, result));
    }
    *hash = result;
    return true;
  }
  if (value->value_case == (int)ATTR_LIST && value->list->n_func > 0) {
    AttrValue *copy = proto_copy(value, h->arena);
    if (!copy) return status_oom(h->status, "the hash of a function");
    TRY(sort_funcs(h, copy));
    value = copy;
  }
  return hash_message(h, value, SEED, hash);
}

/* --- the signature --- */

static bool hash_attr_def(Hasher *h, const AttrDef *def, uint64_t *hash) {
  uint64_t result = hash_text(def->type, hash_text(def->name, SEED)), of_value;
  TRY(hash_attr(h, def->default_value, &of_value));
  result = hash_text(def->description, combine(of_value, result));
  result = combine(def->has_minimum ? 1 : 0, result);
  result = combine((uint64_t)def->minimum, result);
  TRY(hash_attr(h, def->allowed_values, &of_value));
  *hash = combine(of_value, result);
  return true;
}

static bool hash_signature(Hasher *h, const OpDef *signature, uint64_t *hash) {
  uint64_t result = SEED, of_attr;
  AttrDef **attrs = sorted(h, signature->attr, signature->n_attr, by_attr_name);
  char **controls = sorted(h, signature->control_output, signature->n_control_output, by_text);
  if (!attrs || !controls) return false;
  for (size_t i = 0; i < signature->n_attr; i++) {
    TRY(hash_attr_def(h, attrs[i], &of_attr));
    result = combine(of_attr, hash_text(attrs[i]->name, result));
  }
  for (size_t i = 0; i < signature->n_control_output; i++)
    result = combine(result, hash_text(controls[i], SEED));
  OpDef rest = *signature;
  rest.n_attr = 0;
  rest.n_control_output = 0;
  return hash_message(h, &rest, result, hash);
}

/* --- nodes --- */

static bool hash_node(Hasher *h, const NodeDef *node, uint64_t *hash) {
  uint64_t result = hash_text(node->device, hash_text(node->op, hash_text(node->name, SEED))), of_value;
  size_t data_inputs = 0;
  while (data_inputs < node->n_input && node->input[data_inputs][0] != '^')
    result = hash_text(node->input[data_inputs++], result);
  size_t num_controls = node->n_input - data_inputs;
  char **controls = sorted(h, num_controls > 0 ? node->input + data_inputs : NULL, num_controls, by_text);
  AttrEntry **attrs = sorted(h, node->attr, node->n_attr, by_key);
  if (!controls || !attrs) return false;
  for (size_t i = 0; i < num_controls; i++) {
    if (i == 0 || strcmp(controls[i], controls[i - 1]) != 0) result = hash_text(controls[i], result);
  }
  for (size_t i = 0; i < node->n_attr; i++) {
    if (attrs[i]->key[0] == '_') continue;
    TRY(hash_attr(h, attrs[i]->value, &of_value));
    result = combine(of_value, hash_text(attrs[i]->key, result));
  }
  *hash = result;
  return true;
}

static bool hash_nodes(Hasher *h, const FunctionDef *function, uint64_t *hash) {
  uint64_t result = SEED, of_node;
  NodeDef **nodes = sorted(h, function->node_def, function->n_node_def, by_node_name);
  if (!nodes) return false;
  for (size_t i = 0; i < function->n_node_def; i++) {
    TRY(hash_node(h, nodes[i], &of_node));
    result = combine(of_node, hash_text(nodes[i]->name, result));
  }
  *hash = result;
  return true;
}

bool function_def_hash(const FunctionDef *function, Arena *arena, uint64_t *hash, Status *status) {
  Hasher h = {arena, status};
  uint64_t result, part;
  Tensorflow__FunctionDef__AttrEntry **attrs = sorted(&h, function->attr, function->n_attr, by_key);
  Tensorflow__FunctionDef__RetEntry **rets = sorted(&h, function->ret, function->n_ret, by_key);
  Tensorflow__FunctionDef__ControlRetEntry **controls =
      sorted(&h, function->control_ret, function->n_control_ret, by_key);
  if (!attrs || !rets || !controls) return false;
  TRY(hash_signature(&h, function->signature, &result));
  for (size_t i = 0; i < function->n_attr; i++) {
    if (!attrs[i]->value || attrs[i]->value->value_case == (int)ATTR_NOT_SET) continue;
    TRY(hash_attr(&h, attrs[i]->value, &part));
    result = combine(part, hash_text(attrs[i]->key, result));
  }
  TRY(hash_nodes(&h, function, &part));
  result = combine(part, result);
  for (size_t i = 0; i < function->n_ret; i++)
    result = hash_text(rets[i]->value, hash_text(rets[i]->key, result));
  for (size_t i = 0; i < function->n_control_ret; i++)
    result = hash_text(controls[i]->value, hash_text(controls[i]->key, result));
  *hash = result;
  return true;
}
