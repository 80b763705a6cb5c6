/* The ops that make queues: FIFOQueueV2, PaddingFIFOQueueV2, RandomShuffleQueueV2, PriorityQueueV2, and the
 * older ops without V2, whose output is a reference. */
#include "op/op_registry.h"
#include "ops/lists/queue_spec.h"
#include "ops/lists/shared_resource.h"
#include "ops/lists/step_resource.h"

typedef struct MakerState {
  SharedResource shared;
  QueueSpec spec;
} MakerState;

static const QueueKind kFifo = {"FIFOQueue", "FIFOQueue", QUEUE_FIFO, false, false},
                       kPadding = {"PaddingFIFOQueue", "FIFOQueue", QUEUE_FIFO, true, false},
                       kRandom = {"RandomShuffleQueue", "RandomShuffleQueue", QUEUE_RANDOM, false, false},
                       kPriority = {"PriorityQueue", "PriorityQueue", QUEUE_PRIORITY, false, true};

static bool construct_maker(const KernelConstruction *construction, void *memory, Status *status) {
  MakerState *state = memory;
  TRY(shared_resource_construct(construction, &state->shared, status));
  return queue_spec_read(construction, construction->data, &state->spec, status);
}

static void destroy_maker(void *memory) { shared_resource_destroy(&((MakerState *)memory)->shared); }

typedef struct NewQueue {
  Str name;
  const QueueSpec *spec;
} NewQueue;

static Resource *make_queue(void *argument, Status *status) {
  const NewQueue *wanted = argument;
  return (Resource *)queue_new(wanted->name, wanted->spec, status);
}

static bool make_handle(KernelContext *context, MakerState *state, Status *status) {
  NewQueue wanted = {.spec = &state->spec};
  Resource *queue;
  TRY(shared_resource_find(context, &state->shared, kQueue, make_queue, &wanted.name, &wanted, &queue,
                           status));
  if (queue_spec_check_shared((Queue *)queue, context->op_name, &state->spec, status)) return true;
  tensor_clear(&state->shared.handle);
  return false;
}

static bool maker(KernelContext *context, Status *status) {
  MakerState *state = context->state;
  if (tensor_is_empty(&state->shared.handle)) TRY(make_handle(context, state, status));
  return kernel_set_output(context, 0, &state->shared.handle, NULL, status);
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
