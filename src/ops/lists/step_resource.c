#include "ops/lists/step_resource.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text_format.h"

char *step_resource_name(const KernelContext *context, Str wanted, Status *status) {
  static atomic_llong count;
  if (wanted.length == 0) wanted = str_of(context->node_name);
  size_t capacity = wanted.length + 24;
  char *name = mem_alloc((int64_t)capacity);
  if (!name) {
    status_oom(status, "a name");
    return NULL;
  }
  if (wanted.length > 0) memcpy(name, wanted.data, wanted.length);
  text_format(name + wanted.length, capacity - wanted.length, "_%lld",
              (long long)atomic_fetch_add(&count, 1));
  return name;
}

bool step_resource_set_output(KernelContext *context, int output, const char *name, Resource *resource,
                              Status *status) {
  bool ok = context->resources || status_set(status, CODE_INTERNAL, "No resource manager.");
  ok = ok && resource_manager_keep_for_step(context->resources, kernel_step_id(context), resource, status) &&
       resource_handle_tensor(str_of(""), str_of(name), resource, &context->outputs[output], status);
  tensor_object_unref(&resource->object);
  return ok;
}

bool step_resource_check_handle(InferenceContext *c, int i, Status *status) {
  ShapeHandle handle;
  DimHandle two;
  TRY(shape_with_rank(c, shape_input(c, i), 1, &handle, status));
  return dim_with_value(c, shape_dim_of(c, handle, 0), 2, &two, status);
}

bool step_resource_set_handle(InferenceContext *c, int i, Status *status) {
  ShapeHandle handle;
  TRY(shape_ok(shape_vector(c, dim_make(c, 2)), &handle, status));
  shape_set_output(c, i, handle);
  return true;
}
