#include "ops/lists/shared_resource.h"

#include <stdatomic.h>

#include "op/node_def.h"

bool shared_resource_construct(const KernelConstruction *construction, SharedResource *shared,
                               Status *status) {
  TRY(node_attr_string(construction->node, "container", &shared->container, status));
  return node_attr_string(construction->node, "shared_name", &shared->shared_name, status);
}

void shared_resource_destroy(SharedResource *shared) { tensor_clear(&shared->handle); }

bool shared_resource_find(KernelContext *context, SharedResource *shared, const char *type_name,
                          Resource *(*make)(void *argument, Status *status), Str *name, void *argument,
                          Resource **resource, Status *status) {
  static atomic_llong count;
  StrBuf own_name = {0};
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  *name = shared->shared_name;
  if (name->length == 0) {
    strbuf_printf(&own_name, "_%lld_%s", (long long)atomic_fetch_add(&count, 1), context->node_name);
    *name = str_of(strbuf_text(&own_name));
  }
  bool ok = strbuf_ok(&own_name, status) &&
            resource_manager_find_or_make(context->resources, shared->container, *name, type_name, make,
                                          argument, resource, status) &&
            resource_handle_tensor(resource_manager_container(context->resources, shared->container), *name,
                                   *resource, &shared->handle, status);
  strbuf_free(&own_name);
  return ok;
}
