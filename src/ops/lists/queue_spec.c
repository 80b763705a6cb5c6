#include "ops/lists/queue_spec.h"

#include <string.h>

#include "op/node_def.h"

/* --- texts --- */

void queue_print_types(const DataType *types, int count, StrBuf *text) {
  for (int i = 0; i < count; i++) strbuf_printf(text, "%s%s", i > 0 ? ", " : "", dtype_name((int)types[i]));
}

void queue_print_dims(const QueueShape *shape, const char *unknown, StrBuf *text) {
  for (int d = 0; d < shape->rank; d++) {
    if (d > 0) strbuf_append(text, ",");
    if (shape->dims[d] < 0) strbuf_append(text, unknown);
    else strbuf_printf(text, "%lld", (long long)shape->dims[d]);
  }
}

/* "[[], [2,3]]"; "[]" for none. */
static void print_shapes(const QueueShape *shapes, int count, const char *unknown, StrBuf *text) {
  strbuf_append(text, "[");
  for (int i = 0; shapes && i < count; i++) {
    strbuf_append(text, i > 0 ? ", [" : "[");
    queue_print_dims(&shapes[i], unknown, text);
    strbuf_append(text, "]");
  }
  strbuf_append(text, "]");
}

bool queue_refuse(StrBuf *text, Status *status) {
  if (strbuf_ok(text, status)) status_invalid(status, "%s", strbuf_text(text));
  strbuf_free(text);
  return false;
}

/* --- attrs --- */

/* Unknown sizes count as 0 in this text. */
static bool refuse_number_of_shapes(const QueueSpec *spec, int num_shapes, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, "Different number of component types.  Types: ");
  queue_print_types(spec->types, spec->num_components, &text);
  strbuf_append(&text, ", Shapes: ");
  print_shapes(spec->shapes, num_shapes, "0", &text);
  return queue_refuse(&text, status);
}

static bool refuse_partial_shape(const QueueShape *shape, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, "Shape [");
  queue_print_dims(shape, "?", &text);
  strbuf_append(&text, "] is not fully defined");
  return queue_refuse(&text, status);
}

static bool read_shape(const TensorShapeProto *proto, bool may_be_partial, Arena *arena, QueueShape *shape,
                       Status *status) {
  if (proto->unknown_rank)
    return status_invalid(status, may_be_partial ? "shape <unknown> must have known rank."
                                                 : "Shape <unknown> is not fully defined");
  int64_t *dims = arena_calloc(arena, (int64_t)proto->n_dim, sizeof *dims);
  if (!dims) return status_oom(status, "a queue");
  bool is_partial = false;
  for (size_t d = 0; d < proto->n_dim; d++) {
    dims[d] = proto->dim[d]->size < 0 ? -1 : proto->dim[d]->size;
    is_partial |= dims[d] < 0;
  }
  *shape = (QueueShape){(int)proto->n_dim, dims};
  if (!is_partial) return shape_check_proto(proto, NULL, status);
  return may_be_partial || refuse_partial_shape(shape, status);
}

static bool read_shapes(const KernelConstruction *construction, QueueSpec *spec, Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(construction->node, "shapes", ATTR_SHAPE, &list, status));
  int given = list ? (int)list->n_shape : 0, extra = spec->kind->has_priority;
  if (given == 0 && spec->kind->pads)
    return status_invalid(status,
                          "Shapes must be provided for all components, but received %d dtypes and 0 shapes.",
                          spec->num_components);
  if (given == 0) return true;
  QueueShape *shapes = arena_calloc(construction->arena, given + extra, sizeof *shapes);
  if (!shapes) return status_oom(status, "a queue");
  spec->shapes = shapes;
  for (int i = 0; i < given; i++)
    TRY(read_shape(list->shape[i], spec->kind->pads, construction->arena, &shapes[i + extra], status));
  return given + extra == spec->num_components || refuse_number_of_shapes(spec, given + extra, status);
}

static bool read_types(const KernelConstruction *construction, QueueSpec *spec, Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(construction->node, "component_types", ATTR_TYPE, &list, status));
  int given = list ? (int)list->n_type : 0, extra = spec->kind->has_priority;
  DataType *types = arena_calloc(construction->arena, given + extra, sizeof *types);
  if (!types) return status_oom(status, "a queue");
  if (extra) types[0] = DT_INT64;
  for (int i = 0; i < given; i++) types[i + extra] = (DataType)list->type[i];
  spec->types = types;
  spec->num_components = given + extra;
  return true;
}

static bool read_random(const NodeDef *node, QueueSpec *spec, Status *status) {
  int32_t least;
  TRY(node_attr_int32(node, "min_after_dequeue", &least, status) &&
      node_attr_int(node, "seed", &spec->seeds[0], status) &&
      node_attr_int(node, "seed2", &spec->seeds[1], status));
  spec->min_after_dequeue = least;
  if (least < 0) return status_invalid(status, "min_after_dequeue %d must be >= 0", (int)least);
  return least < spec->capacity || status_invalid(status, "min_after_dequeue %d must be < capacity %lld",
                                                  (int)least, (long long)spec->capacity);
}

bool queue_spec_read(const KernelConstruction *construction, const QueueKind *kind, QueueSpec *spec,
                     Status *status) {
  int32_t capacity;
  TRY(node_attr_int32(construction->node, "capacity", &capacity, status));
  *spec = (QueueSpec){.kind = kind, .capacity = capacity < 0 ? INT32_MAX : capacity};
  if (kind->order == QUEUE_RANDOM) TRY(read_random(construction->node, spec, status));
  return read_types(construction, spec, status) && read_shapes(construction, spec, status);
}

/* --- a queue that is there already --- */

bool queue_has_types(const QueueSpec *spec, const DataType *types, int count) {
  bool same = spec->num_components == count;
  for (int i = 0; same && i < count; i++) same = spec->types[i] == types[i];
  return same;
}

/* Sizes that one of them does not know agree. */
static bool shapes_agree(const QueueShape *a, const QueueShape *b) {
  bool agree = a->rank == b->rank;
  for (int d = 0; agree && d < a->rank; d++)
    agree = a->dims[d] == b->dims[d] || a->dims[d] < 0 || b->dims[d] < 0;
  return agree;
}

/* As in TensorFlow no PriorityQueue without shapes agrees with its own node. */
static bool has_shapes(const QueueSpec *spec, const QueueSpec *asked) {
  if (!spec->shapes || !asked->shapes) return !spec->shapes && !asked->shapes && !spec->kind->has_priority;
  bool same = true;
  for (int i = 0; same && i < spec->num_components; i++)
    same = shapes_agree(&spec->shapes[i], &asked->shapes[i]);
  return same;
}

static void print_asked_shapes(const QueueSpec *asked, StrBuf *text) {
  if (!asked->shapes && asked->kind->has_priority) strbuf_append(text, "[[]]");
  else print_shapes(asked->shapes, asked->num_components, "?", text);
}

static bool check_contents(const Queue *queue, const QueueSpec *asked, Status *status) {
  StrBuf text = {0};
  const QueueSpec *spec = &queue->spec;
  int count = asked->num_components;
  strbuf_printf(&text, "Shared queue '%s' has component ", queue->name);
  if (!queue_has_types(spec, asked->types, count)) {
    strbuf_append(&text, "types ");
    queue_print_types(spec->types, spec->num_components, &text);
    strbuf_append(&text, " but requested component types were ");
    queue_print_types(asked->types, count, &text);
  } else if (!has_shapes(spec, asked)) {
    strbuf_append(&text, "shapes ");
    print_shapes(spec->shapes, count, "?", &text);
    strbuf_append(&text, " but requested component shapes were ");
    print_asked_shapes(asked, &text);
  } else {
    strbuf_free(&text);
    return true;
  }
  return queue_refuse(&text, status);
}

bool queue_spec_check_shared(const Queue *queue, const char *op, const QueueSpec *asked, Status *status) {
  const QueueSpec *spec = &queue->spec;
  if (spec->kind != asked->kind) return status_invalid(status, "Expected %s, found %s", spec->kind->op, op);
  if (spec->capacity != asked->capacity)
    return status_invalid(status, "Shared queue '%s' has capacity %lld but requested capacity was %lld",
                          queue->name, (long long)spec->capacity, (long long)asked->capacity);
  if (spec->min_after_dequeue != asked->min_after_dequeue)
    return status_invalid(status,
                          "Shared queue '%s' has min_after_dequeue %lld but requested min_after_dequeue was "
                          "%lld.",
                          queue->name, (long long)spec->min_after_dequeue,
                          (long long)asked->min_after_dequeue);
  bool any_seeds = asked->seeds[0] == 0 && asked->seeds[1] == 0;
  if (!any_seeds && memcmp(spec->seeds, asked->seeds, sizeof spec->seeds) != 0)
    return status_invalid(status,
                          "Shared queue '%s' has random seeds (%lld, %lld) but requested seeds are (%lld, "
                          "%lld).",
                          queue->name, (long long)spec->seeds[0], (long long)spec->seeds[1],
                          (long long)asked->seeds[0], (long long)asked->seeds[1]);
  return check_contents(queue, asked, status);
}
