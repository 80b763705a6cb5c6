/* Queues: FIFOQueueV2 makes one, and the ops QueueEnqueueV2, QueueDequeueV2, ... have its handle as input.
 * The older ops without V2 have a reference instead; both have the same contents. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/lists/queue.h"
#include "ops/lists/step_resource.h"

/* --- making a queue --- */

typedef struct FifoState {
  Str container, shared_name;
  QueueSpec spec;
  Tensor handle; /* empty until first run */
} FifoState;

static void print_types(const DataType *types, int count, StrBuf *text) {
  for (int i = 0; i < count; i++) strbuf_printf(text, "%s%s", i > 0 ? ", " : "", dtype_name((int)types[i]));
}

/* "[[], [2,3]]"; "[]" for none. */
static void print_shapes(const Shape *shapes, int count, StrBuf *text) {
  strbuf_append(text, "[");
  for (int i = 0; shapes && i < count; i++) {
    if (i > 0) strbuf_append(text, ", ");
    shape_print(&shapes[i], text);
  }
  strbuf_append(text, "]");
}

/* INVALID_ARGUMENT with the text, which is freed. */
static bool refuse(StrBuf *text, Status *status) {
  if (strbuf_ok(text, status)) status_invalid(status, "%s", strbuf_text(text));
  strbuf_free(text);
  return false;
}

static bool refuse_number_of_shapes(const QueueSpec *spec, const AttrListValue *list, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, "Different number of component types.  Types: ");
  print_types(spec->types, spec->num_components, &text);
  strbuf_append(&text, ", Shapes: ");
  print_shapes(spec->shapes, (int)list->n_shape, &text);
  return refuse(&text, status);
}

static bool refuse_partial_shape(const TensorShapeProto *proto, Status *status) {
  StrBuf text = {0};
  strbuf_append(&text, "Shape ");
  if (proto->unknown_rank) strbuf_append(&text, "<unknown>");
  else strbuf_append(&text, "[");
  for (size_t i = 0; i < proto->n_dim; i++) {
    long long size = (long long)proto->dim[i]->size;
    strbuf_append(&text, i > 0 ? "," : "");
    if (size < 0) strbuf_append(&text, "?");
    else strbuf_printf(&text, "%lld", size);
  }
  strbuf_append(&text, proto->unknown_rank ? " is not fully defined" : "] is not fully defined");
  return refuse(&text, status);
}

static bool is_partial(const TensorShapeProto *proto) {
  bool partial = proto->unknown_rank;
  for (size_t i = 0; !partial && i < proto->n_dim; i++) partial = proto->dim[i]->size < 0;
  return partial;
}

static bool read_shapes(const KernelConstruction *construction, QueueSpec *spec, Status *status) {
  const AttrListValue *list;
  TRY(node_attr_list(construction->node, "shapes", ATTR_SHAPE, &list, status));
  if (!list || list->n_shape == 0) return true;
  Shape *shapes = arena_calloc(construction->arena, (int64_t)list->n_shape, sizeof *shapes);
  if (!shapes) return status_oom(status, "a queue");
  spec->shapes = shapes;
  for (size_t i = 0; i < list->n_shape; i++) {
    if (is_partial(list->shape[i])) return refuse_partial_shape(list->shape[i], status);
    TRY(shape_from_proto(list->shape[i], &shapes[i], status));
  }
  return (int)list->n_shape == spec->num_components || refuse_number_of_shapes(spec, list, status);
}

static bool fifo_construct(const KernelConstruction *construction, void *memory, Status *status) {
  FifoState *state = memory;
  const NodeDef *node = construction->node;
  const AttrListValue *list;
  int64_t capacity;
  TRY(node_attr_string(node, "container", &state->container, status));
  TRY(node_attr_string(node, "shared_name", &state->shared_name, status));
  TRY(node_attr_int(node, "capacity", &capacity, status));
  TRY(node_attr_list(node, "component_types", ATTR_TYPE, &list, status));
  int count = list ? (int)list->n_type : 0;
  DataType *types = arena_calloc(construction->arena, count, sizeof *types);
  if (!types) return status_oom(status, "a queue");
  for (int i = 0; i < count; i++) types[i] = (DataType)list->type[i];
  state->spec =
      (QueueSpec){.types = types, .num_components = count, .capacity = capacity < 0 ? INT64_MAX : capacity};
  return read_shapes(construction, &state->spec, status);
}

static void fifo_destroy(void *memory) {
  FifoState *state = memory;
  tensor_clear(&state->handle);
  for (int i = 0; state->spec.shapes && i < state->spec.num_components; i++)
    shape_clear((Shape *)&state->spec.shapes[i]);
}

/* --- a queue that may be there already --- */

static bool has_types(const QueueSpec *spec, const DataType *types, int count) {
  bool same = spec->num_components == count;
  for (int i = 0; same && i < count; i++) same = spec->types[i] == types[i];
  return same;
}

static bool has_shapes(const QueueSpec *spec, const Shape *shapes) {
  if (!spec->shapes || !shapes) return !spec->shapes && !shapes;
  bool same = true;
  for (int i = 0; same && i < spec->num_components; i++) same = shape_equal(&spec->shapes[i], &shapes[i]);
  return same;
}

static bool check_shared(const Queue *queue, const QueueSpec *asked, Status *status) {
  StrBuf text = {0};
  const QueueSpec *spec = &queue->spec;
  int count = asked->num_components;
  strbuf_printf(&text, "Shared queue '%s' has ", queue->name);
  if (spec->capacity != asked->capacity) {
    strbuf_printf(&text, "capacity %lld but requested capacity was %lld", (long long)spec->capacity,
                  (long long)asked->capacity);
  } else if (!has_types(spec, asked->types, count)) {
    strbuf_append(&text, "component types ");
    print_types(spec->types, spec->num_components, &text);
    strbuf_append(&text, " but requested component types were ");
    print_types(asked->types, count, &text);
  } else if (!has_shapes(spec, asked->shapes)) {
    strbuf_append(&text, "component shapes ");
    print_shapes(spec->shapes, count, &text);
    strbuf_append(&text, " but requested component shapes were ");
    print_shapes(asked->shapes, count, &text);
  } else {
    strbuf_free(&text);
    return true;
  }
  return refuse(&text, status);
}

typedef struct NewQueue {
  Str name;
  const QueueSpec *spec;
} NewQueue;

static Resource *make_queue(void *argument, Status *status) {
  const NewQueue *wanted = argument;
  return (Resource *)queue_new(wanted->name, wanted->spec, status);
}

static bool make_handle(KernelContext *context, FifoState *state, Status *status) {
  char *own_name = NULL;
  Resource *queue;
  NewQueue wanted = {state->shared_name, &state->spec};
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  if (wanted.name.length == 0) {
    own_name = step_resource_name(context, (Str){0}, status);
    if (!own_name) return false;
    wanted.name = str_of(own_name);
  }
  bool ok = resource_manager_find_or_make(context->resources, state->container, wanted.name, kQueue,
                                          make_queue, &wanted, &queue, status) &&
            check_shared((Queue *)queue, &state->spec, status) &&
            resource_handle_tensor(state->container, wanted.name, queue, &state->handle, status);
  mem_free(own_name);
  return ok;
}

static bool fifo_queue(KernelContext *context, Status *status) {
  FifoState *state = context->state;
  if (tensor_is_empty(&state->handle)) TRY(make_handle(context, state, status));
  return kernel_set_output(context, 0, &state->handle, NULL, status);
}

/* --- its inputs --- */

/* The input types of the node; kernels compare them with the queue's. */
typedef struct QueueOpState {
  const DataType *input_types;
  bool cancels; /* QueueClose: attr cancel_pending_enqueues */
} QueueOpState;

static bool queue_op_construct(const KernelConstruction *construction, void *memory, Status *status) {
  QueueOpState *state = memory;
  state->input_types = construction->input_types;
  const AttrValue *cancels = node_def_attr(construction->node, "cancel_pending_enqueues");
  return !cancels || node_attr_bool(construction->node, "cancel_pending_enqueues", &state->cancels, status);
}

static bool queue_of(const KernelContext *context, Queue **queue, Status *status) {
  Resource *resource;
  TRY(tensor_resource(context->inputs[0], kQueue, &resource, status));
  *queue = (Queue *)resource;
  return true;
}

/* "resource, int32->float": the handle, what follows it, and the outputs. */
static void print_signature(const DataType *inputs, int num_inputs, const DataType *added, int num_added,
                            const DataType *outputs, int num_outputs, StrBuf *text) {
  print_types(inputs, num_inputs, text);
  if (num_added > 0) strbuf_append(text, ", ");
  print_types(added, num_added, text);
  strbuf_append(text, "->");
  print_types(outputs, num_outputs, text);
}

/* Whether the components of an op that adds or takes have the types of the queue's. */
static bool check_components(const KernelContext *context, const Queue *queue, bool adds, Status *status) {
  const QueueOpState *state = context->state;
  const QueueSpec *spec = &queue->spec;
  const DataType *given = adds ? state->input_types + 1 : context->output_types;
  int count = adds ? context->num_inputs - 1 : context->num_outputs;
  if (has_types(spec, given, count)) return true;
  StrBuf text = {0};
  strbuf_append(&text, "Signature mismatch, have: ");
  print_signature(state->input_types, context->num_inputs, NULL, 0, context->output_types,
                  context->num_outputs, &text);
  strbuf_append(&text, " expected: ");
  print_signature(state->input_types, adds ? 1 : context->num_inputs, spec->types,
                  adds ? spec->num_components : 0, spec->types, adds ? 0 : spec->num_components, &text);
  return refuse(&text, status);
}

static bool refuse_component(int i, int64_t rows, const Shape *expected, const Shape *got, Status *status) {
  StrBuf text = {0};
  char shape[SHAPE_TEXT_CAPACITY];
  strbuf_printf(&text, "Shape mismatch in tuple component %d. Expected [", i);
  if (rows >= 0) strbuf_printf(&text, "%lld%s", (long long)rows, expected->rank > 0 ? "," : "");
  for (int d = 0; d < expected->rank; d++)
    strbuf_printf(&text, "%s%lld", d > 0 ? "," : "", (long long)shape_dim(expected, d));
  strbuf_printf(&text, "], got %s", shape_text(got, shape));
  return refuse(&text, status);
}

/* `rows`: how many elements the tensors have; -1: they are one element. */
static bool has_shape(const Shape *got, int64_t rows, const Shape *expected) {
  int skipped = rows >= 0;
  bool same = got->rank == expected->rank + skipped && (!skipped || shape_dim(got, 0) == rows);
  for (int d = 0; same && d < expected->rank; d++)
    same = shape_dim(got, d + skipped) == shape_dim(expected, d);
  return same;
}

static bool check_shapes(const KernelContext *context, const Queue *queue, int64_t rows, Status *status) {
  const Shape *shapes = queue->spec.shapes;
  for (int i = 0; i < queue->spec.num_components; i++) {
    const Shape *got = &context->inputs[1 + i]->shape;
    if (shapes && !has_shape(got, rows, &shapes[i]))
      return refuse_component(i, rows, &shapes[i], got, status);
    if (shapes || rows < 0 || (got->rank > 0 && shape_dim(got, 0) == rows)) continue;
    return status_invalid(status,
                          "All input tensors must have the same size in the 0th dimension. Component %d has "
                          "%lld, and should have %lld",
                          i, (long long)(got->rank > 0 ? shape_dim(got, 0) : 1), (long long)rows);
  }
  return true;
}

/* --- kernels --- */

static bool enqueue(KernelContext *context, Status *status) {
  Queue *queue;
  TRY(queue_of(context, &queue, status) && check_components(context, queue, true, status) &&
      check_shapes(context, queue, -1, status));
  return queue_attempt(queue, context, QUEUE_ADD, 1, status);
}

static bool enqueue_many(KernelContext *context, Status *status) {
  Queue *queue;
  TRY(queue_of(context, &queue, status) && check_components(context, queue, true, status));
  const Shape *first = &context->inputs[1]->shape;
  int64_t rows = first->rank > 0 ? shape_dim(first, 0) : 0;
  TRY(check_shapes(context, queue, rows, status));
  return rows == 0 || queue_attempt(queue, context, QUEUE_ADD_MANY, rows, status);
}

static bool dequeue(KernelContext *context, Status *status) {
  Queue *queue;
  return queue_of(context, &queue, status) && check_components(context, queue, false, status) &&
         queue_attempt(queue, context, QUEUE_TAKE, 1, status);
}

static bool take_none(const Queue *queue, KernelContext *context, Status *status) {
  for (int i = 0; i < queue->spec.num_components; i++) {
    int64_t dims[SHAPE_MAX_RANK] = {0};
    const Shape *shape = &queue->spec.shapes[i];
    Tensor *out;
    if (shape->rank + 1 > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
    for (int d = 0; d < shape->rank; d++) dims[d + 1] = shape_dim(shape, d);
    TRY(kernel_allocate_output_dims(context, i, shape->rank + 1, dims, &out, status));
  }
  return true;
}

static bool dequeue_several(KernelContext *context, QueueAction action, const char *op, Status *status) {
  Queue *queue;
  const Tensor *n = context->inputs[1];
  if (tensor_num_elements(n) == 0) return status_invalid(status, "%s needs the number of elements", op);
  int64_t count = *tensor_i32(n);
  TRY(queue_of(context, &queue, status));
  if (count < 0) return status_invalid(status, "%s requested %lld < 0 elements", op, (long long)count);
  TRY(check_components(context, queue, false, status));
  if (!queue->spec.shapes)
    return status_invalid(status,
                          "FIFOQueue's DequeueMany and DequeueUpTo require the components to have specified "
                          "shapes.");
  return count == 0 ? take_none(queue, context, status)
                    : queue_attempt(queue, context, action, count, status);
}

static bool dequeue_many(KernelContext *context, Status *status) {
  return dequeue_several(context, QUEUE_TAKE_MANY, "DequeueManyOp", status);
}

static bool dequeue_up_to(KernelContext *context, Status *status) {
  return dequeue_several(context, QUEUE_TAKE_UP_TO, "DequeueUpToOp", status);
}

static bool close_kernel(KernelContext *context, Status *status) {
  const QueueOpState *state = context->state;
  Queue *queue;
  TRY(queue_of(context, &queue, status));
  if (!state->cancels) return queue_attempt(queue, context, QUEUE_CLOSE, 0, status);
  queue_cancel_adding(queue);
  return true;
}

static bool size_kernel(KernelContext *context, Status *status) {
  Queue *queue;
  Tensor *size;
  TRY(queue_of(context, &queue, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &size, status));
  *tensor_i32(size) = (int32_t)queue_size(queue);
  return true;
}

static bool is_closed_kernel(KernelContext *context, Status *status) {
  Queue *queue;
  Tensor *closed;
  TRY(queue_of(context, &queue, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &closed, status));
  *tensor_bool(closed) = queue_is_closed(queue);
  return true;
}

/* --- shapes --- */

static bool v1_handle_shape(InferenceContext *c, Status *status) {
  return step_resource_set_handle(c, 0, status);
}

/* A handle, and (size, is_closed) a scalar. */
static bool v1_query_shape(InferenceContext *c, Status *status) {
  return step_resource_check_handle(c, 0, status) && shape_scalar_output(c, status);
}

/* --- ops --- */

#define FIFO_ATTRS                                                                             \
  {                                                                                            \
    "component_types: list(type) >= 1", "shapes: list(shape) >= 0 = []", "capacity: int = -1", \
        "container: string = ''", "shared_name: string = ''"                                   \
  }
#define FIFO_KERNEL                                                                      \
  .gradient = NO_GRADIENT, .state_size = sizeof(FifoState), .construct = fifo_construct, \
  .destroy = fifo_destroy, .kernels = {{DT_INVALID, fifo_queue}}
#define QUEUE_KERNEL(compute)                                                                   \
  .gradient = NO_GRADIENT, .state_size = sizeof(QueueOpState), .construct = queue_op_construct, \
  .kernels = {{DT_INVALID, compute}}
#define ENQUEUE_ATTRS \
  { "Tcomponents: list(type) >= 1", "timeout_ms: int = -1" }
#define DEQUEUE_ATTRS \
  { "component_types: list(type) >= 1", "timeout_ms: int = -1" }
#define CLOSE_ATTRS \
  { "cancel_pending_enqueues: bool = false" }

const OpRegistration kOpFIFOQueueV2 = {
    .name = "FIFOQueueV2",
    .outputs = {"handle: resource"},
    .attrs = FIFO_ATTRS,
    .is_stateful = true,
    .shape = shape_scalar_output,
    FIFO_KERNEL,
};

const OpRegistration kOpQueueEnqueueV2 = {
    .name = "QueueEnqueueV2",
    .inputs = {"handle: resource", "components: Tcomponents"},
    .attrs = ENQUEUE_ATTRS,
    .is_stateful = true,
    .shape = shape_no_outputs,
    QUEUE_KERNEL(enqueue),
};

const OpRegistration kOpQueueEnqueueManyV2 = {
    .name = "QueueEnqueueManyV2",
    .inputs = {"handle: resource", "components: Tcomponents"},
    .attrs = ENQUEUE_ATTRS,
    .is_stateful = true,
    .shape = shape_no_outputs,
    QUEUE_KERNEL(enqueue_many),
};

const OpRegistration kOpQueueDequeueV2 = {
    .name = "QueueDequeueV2",
    .inputs = {"handle: resource"},
    .outputs = {"components: component_types"},
    .attrs = DEQUEUE_ATTRS,
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    QUEUE_KERNEL(dequeue),
};

const OpRegistration kOpQueueDequeueManyV2 = {
    .name = "QueueDequeueManyV2",
    .inputs = {"handle: resource", "n: int32"},
    .outputs = {"components: component_types"},
    .attrs = DEQUEUE_ATTRS,
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    QUEUE_KERNEL(dequeue_many),
};

const OpRegistration kOpQueueDequeueUpToV2 = {
    .name = "QueueDequeueUpToV2",
    .inputs = {"handle: resource", "n: int32"},
    .outputs = {"components: component_types"},
    .attrs = DEQUEUE_ATTRS,
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    QUEUE_KERNEL(dequeue_up_to),
};

const OpRegistration kOpQueueCloseV2 = {
    .name = "QueueCloseV2",
    .inputs = {"handle: resource"},
    .attrs = CLOSE_ATTRS,
    .is_stateful = true,
    .shape = shape_no_outputs,
    QUEUE_KERNEL(close_kernel),
};

const OpRegistration kOpQueueSizeV2 = {
    .name = "QueueSizeV2",
    .inputs = {"handle: resource"},
    .outputs = {"size: int32"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    QUEUE_KERNEL(size_kernel),
};

const OpRegistration kOpQueueIsClosedV2 = {
    .name = "QueueIsClosedV2",
    .inputs = {"handle: resource"},
    .outputs = {"is_closed: bool"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    QUEUE_KERNEL(is_closed_kernel),
};

const OpRegistration kOpFIFOQueue = {
    .name = "FIFOQueue",
    .outputs = {"handle: Ref(string)"},
    .attrs = FIFO_ATTRS,
    .is_stateful = true,
    .shape = v1_handle_shape,
    FIFO_KERNEL,
};

const OpRegistration kOpQueueEnqueue = {
    .name = "QueueEnqueue",
    .inputs = {"handle: Ref(string)", "components: Tcomponents"},
    .attrs = ENQUEUE_ATTRS,
    .shape = shape_no_outputs,
    QUEUE_KERNEL(enqueue),
};

const OpRegistration kOpQueueEnqueueMany = {
    .name = "QueueEnqueueMany",
    .inputs = {"handle: Ref(string)", "components: Tcomponents"},
    .attrs = ENQUEUE_ATTRS,
    .shape = shape_no_outputs,
    QUEUE_KERNEL(enqueue_many),
};

const OpRegistration kOpQueueDequeue = {
    .name = "QueueDequeue",
    .inputs = {"handle: Ref(string)"},
    .outputs = {"components: component_types"},
    .attrs = DEQUEUE_ATTRS,
    .shape = shape_unknown_outputs,
    QUEUE_KERNEL(dequeue),
};

const OpRegistration kOpQueueDequeueMany = {
    .name = "QueueDequeueMany",
    .inputs = {"handle: Ref(string)", "n: int32"},
    .outputs = {"components: component_types"},
    .attrs = DEQUEUE_ATTRS,
    .shape = shape_unknown_outputs,
    QUEUE_KERNEL(dequeue_many),
};

const OpRegistration kOpQueueDequeueUpTo = {
    .name = "QueueDequeueUpTo",
    .inputs = {"handle: Ref(string)", "n: int32"},
    .outputs = {"components: component_types"},
    .attrs = DEQUEUE_ATTRS,
    .shape = shape_unknown_outputs,
    QUEUE_KERNEL(dequeue_up_to),
};

const OpRegistration kOpQueueClose = {
    .name = "QueueClose",
    .inputs = {"handle: Ref(string)"},
    .attrs = CLOSE_ATTRS,
    .shape = v1_query_shape,
    QUEUE_KERNEL(close_kernel),
};

const OpRegistration kOpQueueSize = {
    .name = "QueueSize",
    .inputs = {"handle: Ref(string)"},
    .outputs = {"size: int32"},
    .shape = v1_query_shape,
    QUEUE_KERNEL(size_kernel),
};

const OpRegistration kOpQueueIsClosed = {
    .name = "QueueIsClosed",
    .inputs = {"handle: Ref(string)"},
    .outputs = {"is_closed: bool"},
    .shape = v1_query_shape,
    QUEUE_KERNEL(is_closed_kernel),
};
