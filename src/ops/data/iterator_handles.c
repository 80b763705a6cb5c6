/* The ops that make iterators: Iterator, IteratorV2, AnonymousIterator, OneShotIterator; and handles as
 * strings. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/data/iterator_resource.h"

typedef struct IteratorState {
  Str container, name;
  const DataType *types;
  const TensorShapeProto *const *shapes;
  int num_components;
  CalledFunction factory; /* of OneShotIterator */
  Tensor handle;          /* empty until first run */
} IteratorState;

typedef enum IteratorOwner { OWNER_SESSION, OWNER_HANDLE } IteratorOwner;

static bool read_types(const KernelConstruction *construction, IteratorState *state, Status *status) {
  const AttrListValue *types, *shapes;
  TRY(node_attr_list(construction->node, "output_types", ATTR_TYPE, &types, status));
  TRY(node_attr_list(construction->node, "output_shapes", ATTR_SHAPE, &shapes, status));
  if (types->n_type != shapes->n_shape) {
    return status_invalid(status,
                          "If both 'output_types' and 'output_shapes' are set, they must have the same "
                          "length.");
  }
  DataType *copy = arena_calloc(construction->arena, (int64_t)types->n_type + 1, sizeof *copy);
  if (!copy) return status_oom(status, "types of an iterator");
  for (size_t i = 0; i < types->n_type; i++) copy[i] = (DataType)types->type[i];
  state->types = copy;
  state->shapes = (const TensorShapeProto *const *)shapes->shape;
  state->num_components = (int)types->n_type;
  return true;
}

static bool handle_construct(const KernelConstruction *construction, void *memory, Status *status) {
  IteratorState *state = memory;
  const NodeDef *node = construction->node;
  TRY(read_types(construction, state, status));
  state->container = state->name = str_of("");
  if (*(const IteratorOwner *)construction->data == OWNER_HANDLE) return true;
  TRY(node_attr_string(node, "container", &state->container, status));
  TRY(node_attr_string(node, "shared_name", &state->name, status));
  if (state->name.length == 0) state->name = str_of(node->name);
  return true;
}

static bool one_shot_construct(const KernelConstruction *construction, void *memory, Status *status) {
  IteratorState *state = memory;
  return handle_construct(construction, memory, status) &&
         function_from_attr(construction->functions, construction->node, "dataset_factory", &state->factory,
                            status);
}

static void handle_destroy(void *memory) { tensor_clear(&((IteratorState *)memory)->handle); }

static Resource *make_iterator(void *argument, Status *status) {
  const IteratorState *state = argument;
  return (Resource *)iterator_resource_new(state->name, state->types, state->shapes, state->num_components,
                                           status);
}

/* The handle of the session's iterator of that name. */
static bool find_handle(KernelContext *context, Status *status) {
  IteratorState *state = context->state;
  Resource *found;
  if (!tensor_is_empty(&state->handle)) return true;
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  return resource_manager_find_or_make(context->resources, state->container, state->name, kIteratorType,
                                       make_iterator, state, &found, status) &&
         resource_handle_tensor(resource_manager_container(context->resources, state->container), state->name,
                                found, &state->handle, status);
}

static bool named_handle(KernelContext *context, Status *status) {
  const IteratorState *state = context->state;
  return find_handle(context, status) && kernel_set_output(context, 0, &state->handle, NULL, status);
}

/* A name that no other iterator of the process has. */
static Str anonymous_name(char text[64]) {
  static atomic_llong count;
  snprintf(text, 64, "AnonymousIterator%lld", atomic_fetch_add(&count, 1));
  return str_of(text);
}

/* Output 1, if there is one, is what keeps the iterator: here the handle does. */
static bool anonymous_handle(KernelContext *context, Status *status) {
  IteratorState wanted = *(IteratorState *)context->state;
  char name[64];
  Tensor handle = {0}, *deleter;
  wanted.name = anonymous_name(name);
  Resource *made = make_iterator(&wanted, status);
  if (!made) return false;
  bool ok = resource_handle_tensor(wanted.container, wanted.name, made, &handle, status) &&
            kernel_set_output(context, 0, &handle, NULL, status) &&
            (context->num_outputs == 1 || kernel_allocate_output_dims(context, 1, 0, NULL, &deleter, status));
  tensor_clear(&handle);
  tensor_object_unref(&made->object);
  return ok;
}

/* --- OneShotIterator --- */

/* The kernel's pause while the factory runs is the resource's; the call itself is kept here. */
static RunState make_dataset(IteratorResource *resource, KernelContext *context, Status *status) {
  const IteratorState *state = context->state;
  const FunctionCaller *caller = context->functions;
  Tensor made = {0};
  Dataset *dataset;
  if (resource->iterator) return RUN_DONE;
  bool ok = function_call_to_end(caller, state->factory.handle, context->step, NULL, 0, &made, 1, status) &&
            dataset_of_tensor(&made, &dataset, status) &&
            iterator_resource_set(resource, dataset, context, status);
  tensor_clear(&made);
  return ok ? RUN_DONE : RUN_FAILED;
}

static bool one_shot(KernelContext *context, Status *status) {
  const IteratorState *state = context->state;
  Resource *resource;
  TRY(find_handle(context, status));
  TRY(tensor_resource(&state->handle, kIteratorType, &resource, status));
  TRY(iterator_work((IteratorResource *)resource, make_dataset, context, status));
  return context->paused || kernel_set_output(context, 0, &state->handle, NULL, status);
}

/* --- ops --- */

static const IteratorOwner kSession = OWNER_SESSION, kHandle = OWNER_HANDLE;

#define ITERATOR_TYPES "output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"
#define ITERATOR_STATE                                                        \
  .is_stateful = true, .shape = shape_scalar_output, .gradient = NO_GRADIENT, \
  .state_size = sizeof(IteratorState), .construct = handle_construct, .destroy = handle_destroy

const OpRegistration kOpIterator = {
    .name = "Iterator",
    .outputs = {"handle: resource"},
    .attrs = {"shared_name: string", "container: string", ITERATOR_TYPES},
    ITERATOR_STATE,
    .kernels = {{DT_INVALID, named_handle, &kSession}},
};

const OpRegistration kOpIteratorV2 = {
    .name = "IteratorV2",
    .outputs = {"handle: resource"},
    .attrs = {"shared_name: string", "container: string", ITERATOR_TYPES},
    ITERATOR_STATE,
    .kernels = {{DT_INVALID, named_handle, &kSession}},
};

const OpRegistration kOpAnonymousIterator = {
    .name = "AnonymousIterator",
    .outputs = {"handle: resource"},
    .attrs = {ITERATOR_TYPES},
    ITERATOR_STATE,
    .kernels = {{DT_INVALID, anonymous_handle, &kHandle}},
};

const OpRegistration kOpAnonymousIteratorV2 = {
    .name = "AnonymousIteratorV2",
    .outputs = {"handle: resource", "deleter: variant"},
    .attrs = {ITERATOR_TYPES},
    ITERATOR_STATE,
    .kernels = {{DT_INVALID, anonymous_handle, &kHandle}},
};

const OpRegistration kOpAnonymousIteratorV3 = {
    .name = "AnonymousIteratorV3",
    .outputs = {"handle: resource"},
    .attrs = {ITERATOR_TYPES},
    ITERATOR_STATE,
    .kernels = {{DT_INVALID, anonymous_handle, &kHandle}},
};

const OpRegistration kOpOneShotIterator = {
    .name = "OneShotIterator",
    .outputs = {"handle: resource"},
    .attrs = {"dataset_factory: func", ITERATOR_TYPES, "container: string = ''", "shared_name: string = ''"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(IteratorState),
    .construct = one_shot_construct,
    .destroy = handle_destroy,
    .kernels = {{DT_INVALID, one_shot, &kSession}},
};

/* --- handles as strings: the container, a line feed and the name --- */

static bool to_string(KernelContext *context, Status *status) {
  IteratorResource *resource;
  StrBuf text = {0};
  Tensor *out;
  TRY(iterator_of_input(context, 0, &resource, status));
  const ResourceHandle *handle = ((ResourceHandle *const *)context->inputs[0]->data)[0];
  strbuf_printf(&text, "%s\n%s", handle->container, handle->name);
  bool ok = strbuf_ok(&text, status) && kernel_allocate_output_dims(context, 0, 0, NULL, &out, status) &&
            tstring_set(tensor_strings(out), strbuf_text(&text), strlen(strbuf_text(&text)), status);
  strbuf_free(&text);
  return ok;
}

const OpRegistration kOpIteratorToStringHandle = {
    .name = "IteratorToStringHandle",
    .inputs = {"resource_handle: resource"},
    .outputs = {"string_handle: string"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, to_string}},
};

static Resource *refuse_to_make(void *argument, Status *status) {
  const Str *name = argument;
  status_set(status, CODE_NOT_FOUND, "Resource localhost/%.*s/%s does not exist.", (int)name->length,
             name->data, kIteratorType);
  return NULL;
}

static bool from_string(KernelContext *context, Status *status) {
  const IteratorState *state = context->state;
  const Tensor *text = context->inputs[0];
  Resource *found;
  Tensor handle = {0};
  if (!tensor_is_scalar(text)) return status_invalid(status, "string_handle must be a scalar");
  Str whole = tstring_view(tensor_strings(text));
  const char *line = memchr(whole.data, '\n', whole.length);
  if (!line) return status_invalid(status, "Could not parse string_handle as a valid ResourceHandle");
  Str container = {whole.data, (size_t)(line - whole.data)},
      name = {line + 1, whole.length - container.length - 1};
  TRY(resource_manager_find_or_make(context->resources, container, name, kIteratorType, refuse_to_make, &name,
                                    &found, status));
  const IteratorResource *iterator = (const IteratorResource *)found;
  if (state->num_components > 0) {
    TRY(dataset_check_types(state->types, state->shapes, state->num_components, iterator->types,
                            iterator->shapes, iterator->num_components, status));
  }
  bool ok = resource_handle_tensor(container, name, found, &handle, status) &&
            kernel_set_output(context, 0, &handle, NULL, status);
  tensor_clear(&handle);
  return ok;
}

#define FROM_STRING                                                              \
  .inputs = {"string_handle: string"}, .outputs = {"resource_handle: resource"}, \
  .attrs = {"output_types: list(type) >= 0 = []", "output_shapes: list(shape) >= 0 = []"}, ITERATOR_STATE

const OpRegistration kOpIteratorFromStringHandle = {
    .name = "IteratorFromStringHandle",
    FROM_STRING,
    .kernels = {{DT_INVALID, from_string, &kHandle}},
};
const OpRegistration kOpIteratorFromStringHandleV2 = {
    .name = "IteratorFromStringHandleV2",
    FROM_STRING,
    .kernels = {{DT_INVALID, from_string, &kHandle}},
};
