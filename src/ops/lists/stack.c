/* Stacks: the gradient loops of TensorFlow 1.x store the values for their backward iterations in stacks. The
 * older ops (Stack, StackPush) refer to a stack by a reference, and the later ones (StackV2) by a handle.
 * Reference and handle have the same contents. */
#include <stdatomic.h>
#include <stdint.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/lists/step_resource.h"

static const char kStack[] = "Stack";

/* --- the stack --- */

typedef struct Stack {
  Resource resource;
  char *name;
  DataType dtype;
  int64_t most; /* the maximum number of elements */
  Tensor *items;
  int64_t count, capacity;
  bool closed;
} Stack;

static void close_stack(Resource *resource) {
  Stack *stack = (Stack *)resource;
  stack->closed = true;
  while (stack->count > 0) tensor_clear(&stack->items[--stack->count]);
  mem_free(stack->items);
  stack->items = NULL;
  stack->capacity = 0;
}

static void destroy_stack(TensorObject *object) {
  Stack *stack = (Stack *)object;
  close_stack(&stack->resource);
  mem_free(stack->name);
  mem_free(stack);
}

static bool check_open(const Stack *stack, Status *status) {
  return !stack->closed || status_invalid(status, "Stack[%s] has already been closed.", stack->name);
}

static bool push(Stack *stack, const Tensor *value, Status *status) {
  TRY(check_open(stack, status));
  if (stack->count >= stack->most)
    return status_invalid(status, "Stack[%s] overflowed its max_size (%lld)", stack->name,
                          (long long)stack->most);
  if (stack->count == stack->capacity) {
    int64_t capacity = stack->capacity < 8 ? 8 : 2 * stack->capacity;
    Tensor *items = mem_realloc(stack->items, capacity * (int64_t)sizeof *items);
    if (!items) return status_oom(status, "a stack");
    stack->items = items;
    stack->capacity = capacity;
  }
  stack->items[stack->count] = (Tensor){0};
  TRY(tensor_assign(&stack->items[stack->count], value, status));
  stack->count++;
  return true;
}

static bool pop(Stack *stack, Tensor *value, Status *status) {
  TRY(check_open(stack, status));
  if (stack->count == 0) return status_invalid(status, "Stack[%s] is empty when calling Pop().", stack->name);
  tensor_move(value, &stack->items[--stack->count]);
  return true;
}

static bool stack_of(const KernelContext *context, Stack **stack, Status *status) {
  Resource *resource;
  TRY(tensor_resource(context->inputs[0], kStack, &resource, status));
  *stack = (Stack *)resource;
  return true;
}

/* --- kernels --- */

typedef struct StackState {
  DataType dtype;
  Str name;
} StackState;

static bool stack_construct(const KernelConstruction *construction, void *memory, Status *status) {
  StackState *state = memory;
  TRY(node_attr_string(construction->node, "stack_name", &state->name, status));
  return node_attr_type(construction->node, "elem_type", &state->dtype, status);
}

static bool make_stack(KernelContext *context, int64_t most, Status *status) {
  const StackState *state = context->state;
  Stack *stack = mem_calloc(1, sizeof *stack);
  if (!stack) return status_oom(status, "a stack");
  atomic_init(&stack->resource.object.references, 1);
  stack->resource.object.destroy = destroy_stack;
  stack->resource.type_name = kStack;
  stack->resource.close = close_stack;
  stack->dtype = state->dtype;
  stack->most = most;
  stack->name = step_resource_name(context, state->name, status);
  if (!stack->name) {
    tensor_object_unref(&stack->resource.object);
    return false;
  }
  return step_resource_set_output(context, 0, stack->name, &stack->resource, status);
}

static bool stack_v2(KernelContext *context, Status *status) {
  const Tensor *most = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  if (most->shape.rank != 0)
    return status_invalid(status, "Stack size must be a scalar, but had shape: %s",
                          shape_text(&most->shape, text));
  return make_stack(context, *tensor_i32(most) < 0 ? INT32_MAX : *tensor_i32(most), status);
}

static bool stack_v1(KernelContext *context, Status *status) {
  return make_stack(context, INT32_MAX, status);
}

static bool stack_push(KernelContext *context, Status *status) {
  Stack *stack;
  const Tensor *value = context->inputs[1];
  TRY(stack_of(context, &stack, status));
  if (value->dtype != stack->dtype)
    return status_invalid(status, "Must have type %d but got %d", (int)stack->dtype, (int)value->dtype);
  return push(stack, value, status) && kernel_set_output(context, 0, value, NULL, status);
}

/* The caller of the kernel refuses a value whose type differs from the node's output type. */
static bool stack_pop(KernelContext *context, Status *status) {
  Stack *stack;
  return stack_of(context, &stack, status) && pop(stack, &context->outputs[0], status);
}

static bool stack_close(KernelContext *context, Status *status) {
  Stack *stack;
  TRY(stack_of(context, &stack, status));
  close_stack(&stack->resource);
  return true;
}

/* --- shapes --- */

static bool stack_shape(InferenceContext *c, Status *status) {
  return step_resource_set_handle(c, 0, status);
}

static bool push_shape(InferenceContext *c, Status *status) {
  shape_set_output(c, 0, shape_input(c, 1));
  (void)status;
  return true;
}

static bool close_shape(InferenceContext *c, Status *status) {
  return step_resource_check_handle(c, 0, status);
}

/* --- ops --- */

/* TensorFlow has no gradients of StackPushV2 and StackPopV2; those of the older ops are zero there. */

#define STACK_STATE .state_size = sizeof(StackState), .construct = stack_construct

const OpRegistration kOpStackV2 = {
    .name = "StackV2",
    .inputs = {"max_size: int32"},
    .outputs = {"handle: resource"},
    .attrs = {"elem_type: type", "stack_name: string = ''"},
    .is_stateful = true,
    .shape = stack_shape,
    .gradient = NO_GRADIENT,
    STACK_STATE,
    .kernels = {{DT_INVALID, stack_v2}},
};

const OpRegistration kOpStackPushV2 = {
    .name = "StackPushV2",
    .inputs = {"handle: resource", "elem: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "swap_memory: bool = false"},
    .is_stateful = true,
    .shape = push_shape,
    .kernels = {{DT_INVALID, stack_push}},
};

const OpRegistration kOpStackPopV2 = {
    .name = "StackPopV2",
    .inputs = {"handle: resource"},
    .outputs = {"elem: elem_type"},
    .attrs = {"elem_type: type"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .kernels = {{DT_INVALID, stack_pop}},
};

const OpRegistration kOpStackCloseV2 = {
    .name = "StackCloseV2",
    .inputs = {"handle: resource"},
    .is_stateful = true,
    .shape = close_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stack_close}},
};

const OpRegistration kOpStack = {
    .name = "Stack",
    .outputs = {"handle: Ref(string)"},
    .attrs = {"elem_type: type", "stack_name: string = ''"},
    .is_stateful = true,
    .shape = stack_shape,
    .gradient = NO_GRADIENT,
    STACK_STATE,
    .kernels = {{DT_INVALID, stack_v1}},
};

const OpRegistration kOpStackPush = {
    .name = "StackPush",
    .inputs = {"handle: Ref(string)", "elem: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "swap_memory: bool = false"},
    .shape = push_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stack_push}},
};

const OpRegistration kOpStackPop = {
    .name = "StackPop",
    .inputs = {"handle: Ref(string)"},
    .outputs = {"elem: elem_type"},
    .attrs = {"elem_type: type"},
    .shape = shape_unknown_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stack_pop}},
};

const OpRegistration kOpStackClose = {
    .name = "StackClose",
    .inputs = {"handle: Ref(string)"},
    .shape = close_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stack_close}},
};
