/* The ops that make queues: FIFOQueueV2, PaddingFIFOQueueV2, RandomShuffleQueueV2, PriorityQueueV2, and the
 * older ops without V2, whose output is a reference. */
#include <stdatomic.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/lists/queue_spec.h"
#include "ops/lists/step_resource.h"

typedef struct MakerState {
  Str container, shared_name;
  QueueSpec spec;
  Tensor handle; /* empty until first run */
} MakerState;

static const QueueKind kFifo = {"FIFOQueue", "FIFOQueue", QUEUE_FIFO, false, false},
                       kPadding = {"PaddingFIFOQueue", "FIFOQueue", QUEUE_FIFO, true, false},
                       kRandom = {"RandomShuffleQueue", "RandomShuffleQueue", QUEUE_RANDOM, false, false},
                       kPriority = {"PriorityQueue", "PriorityQueue", QUEUE_PRIORITY, false, true};

static bool construct_maker(const KernelConstruction *construction, void *memory, Status *status) {
  MakerState *state = memory;
  TRY(node_attr_string(construction->node, "container", &state->container, status));
  TRY(node_attr_string(construction->node, "shared_name", &state->shared_name, status));
  return queue_spec_read(construction, construction->data, &state->spec, status);
}

static void destroy_maker(void *memory) { tensor_clear(&((MakerState *)memory)->handle); }

typedef struct NewQueue {
  Str name;
  const QueueSpec *spec;
} NewQueue;

static Resource *make_queue(void *argument, Status *status) {
  const NewQueue *wanted = argument;
  return (Resource *)queue_new(wanted->name, wanted->spec, status);
}

static bool make_handle(KernelContext *context, MakerState *state, Status *status) {
  static atomic_llong count;
  StrBuf own_name = {0};
  Resource *queue;
  NewQueue wanted = {state->shared_name, &state->spec};
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  if (wanted.name.length == 0) {
    strbuf_printf(&own_name, "_%lld_%s", (long long)atomic_fetch_add(&count, 1), context->node_name);
    wanted.name = str_of(strbuf_text(&own_name));
  }
  bool ok = strbuf_ok(&own_name, status) &&
            resource_manager_find_or_make(context->resources, state->container, wanted.name, kQueue,
                                          make_queue, &wanted, &queue, status) &&
            queue_spec_check_shared((Queue *)queue, context->op_name, &state->spec, status) &&
            resource_handle_tensor(state->container, wanted.name, queue, &state->handle, status);
  strbuf_free(&own_name);
  return ok;
}

static bool maker(KernelContext *context, Status *status) {
  MakerState *state = context->state;
  if (tensor_is_empty(&state->handle)) TRY(make_handle(context, state, status));
  return kernel_set_output(context, 0, &state->handle, NULL, status);
}

static bool v1_handle_shape(InferenceContext *c, Status *status) {
  return step_resource_set_handle(c, 0, status);
}

#define MAKER(kind)                                                               \
  .is_stateful = true, .gradient = NO_GRADIENT, .state_size = sizeof(MakerState), \
  .construct = construct_maker, .destroy = destroy_maker, .kernels = {{DT_INVALID, maker, &(kind)}}
#define V1 .outputs = {"handle: Ref(string)"}, .shape = v1_handle_shape
#define V2 .outputs = {"handle: resource"}, .shape = shape_scalar_output
#define TYPES "component_types: list(type) >= 1", "shapes: list(shape) >= 0 = []"
#define CAPACITY "capacity: int = -1"
#define NAMES "container: string = ''", "shared_name: string = ''"
#define FIFO_ATTRS \
  { TYPES, CAPACITY, NAMES }
#define RANDOM_ATTRS \
  { TYPES, CAPACITY, "min_after_dequeue: int = 0", "seed: int = 0", "seed2: int = 0", NAMES }
#define PRIORITY_ATTRS \
  { "component_types: list(type) >= 0 = []", "shapes: list(shape) >= 0", CAPACITY, NAMES }

const OpRegistration kOpFIFOQueueV2 = {
    .name = "FIFOQueueV2",
    .attrs = FIFO_ATTRS,
    V2,
    MAKER(kFifo),
};
const OpRegistration kOpFIFOQueue = {
    .name = "FIFOQueue",
    .attrs = FIFO_ATTRS,
    V1,
    MAKER(kFifo),
};

const OpRegistration kOpPaddingFIFOQueueV2 = {
    .name = "PaddingFIFOQueueV2",
    .attrs = FIFO_ATTRS,
    V2,
    MAKER(kPadding),
};
const OpRegistration kOpPaddingFIFOQueue = {
    .name = "PaddingFIFOQueue",
    .attrs = FIFO_ATTRS,
    V1,
    MAKER(kPadding),
};

const OpRegistration kOpRandomShuffleQueueV2 = {
    .name = "RandomShuffleQueueV2",
    .attrs = RANDOM_ATTRS,
    V2,
    MAKER(kRandom),
};
const OpRegistration kOpRandomShuffleQueue = {
    .name = "RandomShuffleQueue",
    .attrs = RANDOM_ATTRS,
    V1,
    MAKER(kRandom),
};

const OpRegistration kOpPriorityQueueV2 = {
    .name = "PriorityQueueV2",
    .attrs = PRIORITY_ATTRS,
    V2,
    MAKER(kPriority),
};
const OpRegistration kOpPriorityQueue = {
    .name = "PriorityQueue",
    .attrs = PRIORITY_ATTRS,
    V1,
    MAKER(kPriority),
};
