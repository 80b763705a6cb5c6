/* Operations on queues: QueueEnqueueV2, QueueDequeueV2, ... have the handle of a queue as input. The older
 * ops without V2 have a reference instead; both have the same contents. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/lists/queue_spec.h"
#include "ops/lists/step_resource.h"

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
  queue_print_types(inputs, num_inputs, text);
  if (num_added > 0) strbuf_append(text, ", ");
  queue_print_types(added, num_added, text);
  strbuf_append(text, "->");
  queue_print_types(outputs, num_outputs, text);
}

/* Whether the components of an op that adds or takes have the types of the queue's. */
static bool check_components(const KernelContext *context, const Queue *queue, bool adds, Status *status) {
  const QueueOpState *state = context->state;
  const QueueSpec *spec = &queue->spec;
  const DataType *given = adds ? state->input_types + 1 : context->output_types;
  int count = adds ? context->num_inputs - 1 : context->num_outputs;
  if (queue_has_types(spec, given, count)) return true;
  StrBuf text = {0};
  strbuf_append(&text, "Signature mismatch, have: ");
  print_signature(state->input_types, context->num_inputs, NULL, 0, context->output_types,
                  context->num_outputs, &text);
  strbuf_append(&text, " expected: ");
  print_signature(state->input_types, adds ? 1 : context->num_inputs, spec->types,
                  adds ? spec->num_components : 0, spec->types, adds ? 0 : spec->num_components, &text);
  return queue_refuse(&text, status);
}

static bool refuse_component(int i, int64_t rows, const QueueShape *expected, const Shape *got,
                             Status *status) {
  StrBuf text = {0};
  char shape[SHAPE_TEXT_CAPACITY];
  strbuf_printf(&text, "Shape mismatch in tuple component %d. Expected [", i);
  if (rows >= 0) strbuf_printf(&text, "%lld%s", (long long)rows, expected->rank > 0 ? "," : "");
  queue_print_dims(expected, "?", &text);
  strbuf_printf(&text, "], got %s", shape_text(got, shape));
  return queue_refuse(&text, status);
}

/* `rows`: how many elements the tensors have; -1: they are one element. */
static bool has_shape(const Shape *got, int64_t rows, const QueueShape *expected) {
  int skipped = rows >= 0;
  bool same = got->rank == expected->rank + skipped && (!skipped || shape_dim(got, 0) == rows);
  for (int d = 0; same && d < expected->rank; d++)
    same = expected->dims[d] < 0 || shape_dim(got, d + skipped) == expected->dims[d];
  return same;
}

static bool check_shapes(const KernelContext *context, const Queue *queue, int64_t rows, Status *status) {
  const QueueShape *shapes = queue->spec.shapes;
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
                          "%s's DequeueMany and DequeueUpTo require the components to have specified shapes.",
                          queue->spec.kind->op);
  const QueueElements none = {0};
  return count == 0 ? queue_join(queue, &none, context, status)
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

/* A handle, and (size, is_closed) a scalar. */
static bool v1_query_shape(InferenceContext *c, Status *status) {
  return step_resource_check_handle(c, 0, status) && shape_scalar_output(c, status);
}

/* Components of unknown shapes. TensorFlow checks the number of elements in QueueDequeueManyV2 alone. */
static bool dequeue_many_shape(InferenceContext *c, Status *status) {
  DimHandle count;
  return dim_for_scalar_input(c, 1, &count, status) && shape_unknown_outputs(c, status);
}

/* --- ops --- */

#define QUEUE_KERNEL(compute)                                                                   \
  .gradient = NO_GRADIENT, .state_size = sizeof(QueueOpState), .construct = queue_op_construct, \
  .kernels = {{DT_INVALID, compute}}
#define ENQUEUE_ATTRS \
  { "Tcomponents: list(type) >= 1", "timeout_ms: int = -1" }
#define DEQUEUE_ATTRS \
  { "component_types: list(type) >= 1", "timeout_ms: int = -1" }
#define CLOSE_ATTRS \
  { "cancel_pending_enqueues: bool = false" }

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
    .shape = dequeue_many_shape,
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
