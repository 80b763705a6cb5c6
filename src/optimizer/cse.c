/* Finds equal nodes by hashing, in topological order. */
#include "optimizer/cse.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "optimizer/optimizer_internal.h"

typedef struct Cse {
  const NodeSet *keep;
  bool (*consider)(const Node *node);
  Status *status;
  Node **same;         /* per id: the first node with the same value, or the node itself */
  Node **next;         /* per id: another node with the same hash */
  StringMap heads;     /* from a hash (its bytes) to the first node with that hash */
  uint64_t *hashes;    /* the keys of `heads`, per id */
  uint64_t *contents;  /* per id: the hash of the attr's long bytes, once it was needed; 0: not yet */
  int64_t *sources[2]; /* the inputs of the two nodes that are compared */
  int64_t capacity[2];
} Cse;

static bool oom(Cse *c) { return status_oom(c->status, "common subexpressions"); }

static uint64_t mix(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
}

/* --- attrs --- */

/* Of longer bytes, the key of a node has only the length and this many at either end. Weights of the same
 * shape differ there, so that their bytes are not read. */
enum { SHORT_BYTES = 256, END_BYTES = 64 };

static uint64_t hash_array(uint64_t seed, const void *array, size_t count, size_t size) {
  return count == 0 ? seed : mix(seed, hash_bytes(array, count * size));
}

static uint64_t hash_ends(uint64_t seed, const ProtobufCBinaryData *bytes) {
  if (bytes->len <= SHORT_BYTES) return hash_array(seed, bytes->data, bytes->len, 1);
  uint64_t hash = mix(seed, hash_bytes(bytes->data, END_BYTES));
  return mix(mix(hash, hash_bytes(bytes->data + bytes->len - END_BYTES, END_BYTES)), bytes->len);
}

/* Equal tensors with different encodings may have different hashes; they then count as different. */
static uint64_t hash_tensor(const TensorProto *t) {
  uint64_t hash = (uint64_t)t->dtype;
  for (size_t i = 0; t->tensor_shape && i < t->tensor_shape->n_dim; i++)
    hash = mix(hash, (uint64_t)t->tensor_shape->dim[i]->size);
  hash = hash_ends(hash, &t->tensor_content);
  hash = hash_array(hash, t->float_val, t->n_float_val, sizeof(float));
  hash = hash_array(hash, t->double_val, t->n_double_val, sizeof(double));
  hash = hash_array(hash, t->int_val, t->n_int_val, sizeof(int32_t));
  hash = hash_array(hash, t->int64_val, t->n_int64_val, sizeof(int64_t));
  for (size_t i = 0; i < t->n_string_val; i++)
    hash = hash_array(hash, t->string_val[i].data, t->string_val[i].len, 1);
  return mix(hash, t->n_half_val + t->n_bool_val + t->n_scomplex_val + t->n_dcomplex_val);
}

static uint64_t hash_value(const AttrValue *value) {
  uint64_t hash = (uint64_t)value->value_case;
  switch ((AttrKind)value->value_case) {
    case ATTR_STRING: return hash_array(hash, value->s.data, value->s.len, 1);
    case ATTR_INT: return mix(hash, (uint64_t)value->i);
    case ATTR_FLOAT: return hash_array(hash, &value->f, 1, sizeof value->f);
    case ATTR_BOOL: return mix(hash, (uint64_t)value->b);
    case ATTR_TYPE: return mix(hash, (uint64_t)value->type);
    case ATTR_TENSOR: return mix(hash, hash_tensor(value->tensor));
    case ATTR_LIST:
      return hash_array(hash_array(hash, value->list->i, value->list->n_i, sizeof(int64_t)), value->list->f,
                        value->list->n_f, sizeof(float));
    case ATTR_FUNC: return mix(hash, hash_bytes(value->func->name, strlen(value->func->name)));
    default: return hash; /* rare kinds are left to the comparison */
  }
}

/* The hash of all bytes that hash_ends leaves out, the first time it is asked for: nodes with equal keys are
 * compared by it first, so that each one is read once, however many there are. */
static uint64_t content_hash(Cse *c, const Node *node) {
  uint64_t *hash = &c->contents[node->id];
  for (size_t i = 0; *hash == 0 && i < node->def->n_attr; i++) {
    const AttrValue *value = node->def->attr[i]->value;
    if (value->value_case != (int)ATTR_TENSOR || value->tensor->tensor_content.len <= SHORT_BYTES) continue;
    *hash = hash_bytes(value->tensor->tensor_content.data, value->tensor->tensor_content.len);
  }
  return *hash;
}

/* --- inputs --- */

static int compare_sources(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The inputs of a node, as numbers: data inputs (sorted for a commutative op), then sorted control inputs.
 * NULL when out of memory. */
static const int64_t *sources(Cse *c, int which, const Node *node) {
  int64_t n = node->num_inputs + node->num_control_inputs;
  if (!mem_grow((void **)&c->sources[which], &c->capacity[which], n + 1, sizeof(int64_t))) return NULL;
  int64_t *list = c->sources[which];
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    const Node *source = !edge ? NULL : c->same[edge->src->id] ? c->same[edge->src->id] : edge->src;
    list[i] = !source ? -1 : (int64_t)source->id << 32 | (uint32_t)edge->src_output;
  }
  for (int64_t i = 0; i < node->num_control_inputs; i++) {
    const Node *source = node->control_inputs[i]->src;
    list[node->num_inputs + i] = c->same[source->id] ? c->same[source->id]->id : source->id;
  }
  if (node->op->def->is_commutative) qsort(list, (size_t)node->num_inputs, sizeof(int64_t), compare_sources);
  qsort(list + node->num_inputs, (size_t)node->num_control_inputs, sizeof(int64_t), compare_sources);
  return list;
}

/* --- nodes --- */

/* Nodes that create an object (a reference, a resource, a variant) are not merged, because changing one
 * object must not change the other. */
static bool has_object(const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (dtype_is_ref(node->input_types[i])) return true;
  }
  for (int i = 0; i < node->num_outputs; i++) {
    if (!dtype_is_pod(node->output_types[i]) && node->output_types[i] != DT_STRING) return true;
  }
  return false;
}

static bool may_merge(const Cse *c, const Node *node) {
  if (!node->op || kept(c->keep, node) || node->op->def->is_stateful || has_object(node)) return false;
  if (node_is_placeholder(node)) return false;
  return !c->consider || c->consider(node);
}

static bool hash_node(Cse *c, const Node *node, uint64_t *hash) {
  const int64_t *list = sources(c, 0, node);
  if (!list) return oom(c);
  *hash = hash_bytes(node->def->op, strlen(node->def->op));
  *hash = hash_array(*hash, list, (size_t)(node->num_inputs + node->num_control_inputs), sizeof(int64_t));
  uint64_t attrs = 0; /* independent of the order */
  for (size_t i = 0; i < node->def->n_attr; i++) {
    const char *key = node->def->attr[i]->key;
    attrs += mix(hash_bytes(key, strlen(key)), hash_value(node->def->attr[i]->value));
  }
  *hash = mix(*hash, attrs);
  return true;
}

static bool equal(Cse *c, const Node *a, const Node *b, bool *result) {
  *result = false;
  if (a->op != b->op || a->num_inputs != b->num_inputs || a->num_control_inputs != b->num_control_inputs)
    return true;
  if (strcmp(a->def->device, b->def->device) != 0 || content_hash(c, a) != content_hash(c, b)) return true;
  if (!node_def_same_attrs(a->def, b->def)) return true;
  const int64_t *x = sources(c, 0, a), *y = sources(c, 1, b);
  if (!x || !y) return oom(c);
  *result = memcmp(x, y, (size_t)(a->num_inputs + a->num_control_inputs) * sizeof(int64_t)) == 0;
  return true;
}

static bool find(Cse *c, Node *node) {
  bool effects;
  c->same[node->id] = node;
  if (!may_merge(c, node)) return true;
  TRY(node_has_effects(node, &effects, c->status));
  if (effects) return true;
  uint64_t *hash = &c->hashes[node->id];
  TRY(hash_node(c, node, hash));
  Node *head = string_map_find_bytes(&c->heads, (const char *)hash, sizeof *hash);
  for (Node *other = head; other; other = c->next[other->id]) {
    bool same;
    TRY(equal(c, node, other, &same));
    if (!same) continue;
    c->same[node->id] = other;
    return true;
  }
  if (head) {
    c->next[node->id] = c->next[head->id];
    c->next[head->id] = node;
    return true;
  }
  return string_map_set_bytes(&c->heads, (const char *)hash, sizeof *hash, node, c->status);
}

/* --- merging --- */

static bool merge(Cse *c, Graph *graph, Node *node, Node *into) {
  NodeOutput *outputs = mem_calloc(node->num_outputs, sizeof *outputs);
  if (!outputs) return oom(c);
  for (int i = 0; i < node->num_outputs; i++) outputs[i] = (NodeOutput){into, i};
  bool ok = optimizer_move_consumers(graph, node, outputs, into, c->status);
  mem_free(outputs);
  if (ok) graph_remove_node(graph, node);
  return ok;
}

static bool merge_common(Cse *c, Graph *graph, Arena *arena, bool *changed) {
  Node **order;
  int64_t count, ids = graph_num_node_ids(graph);
  TRY(optimizer_order(graph, arena, &order, &count, c->status));
  c->same = arena_calloc(arena, ids, sizeof *c->same);
  c->next = arena_calloc(arena, ids, sizeof *c->next);
  c->hashes = arena_calloc(arena, ids, sizeof *c->hashes);
  c->contents = arena_calloc(arena, ids, sizeof *c->contents);
  if (!c->same || !c->next || !c->hashes || !c->contents) return oom(c);
  for (int64_t i = 0; i < count; i++) TRY(find(c, order[i]));
  for (int64_t i = 0; i < count; i++) {
    Node *into = c->same[order[i]->id];
    if (into == order[i]) continue;
    TRY(merge(c, graph, order[i], into));
    *changed = true;
  }
  return true;
}

bool graph_merge_common(Graph *graph, const NodeSet *keep, bool (*consider)(const Node *node), bool *changed,
                        Status *status) {
  Cse c = {.keep = keep, .consider = consider, .status = status};
  Arena *arena = arena_new();
  *changed = false;
  bool ok = arena ? merge_common(&c, graph, arena, changed) : oom(&c);
  string_map_free(&c.heads);
  mem_free(c.sources[0]);
  mem_free(c.sources[1]);
  arena_free(arena);
  return ok;
}
