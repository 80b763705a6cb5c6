/* The kernel of an op that makes a resource which steps share, such as a queue: the first run finds the
 * resource by its name, or makes it, and later runs give the same handle. */
#ifndef TFCORE_OPS_LISTS_SHARED_RESOURCE_H_
#define TFCORE_OPS_LISTS_SHARED_RESOURCE_H_

#include "op/kernel.h"

/* In the state of the kernel. */
typedef struct SharedResource {
  Str container, shared_name; /* the attrs; without a name the resource belongs to the node */
  Tensor handle;              /* empty until the first run */
} SharedResource;

MUST_CHECK bool shared_resource_construct(const KernelConstruction *construction, SharedResource *shared,
                                          Status *status);
void shared_resource_destroy(SharedResource *shared);

/* Finds the resource of this type and keeps its handle. `make` makes a new one (one reference, or NULL with
 * status) from `argument`, after *name was set. The resource is borrowed. */
MUST_CHECK bool shared_resource_find(KernelContext *context, SharedResource *shared, const char *type_name,
                                     Resource *(*make)(void *argument, Status *status), Str *name,
                                     void *argument, Resource **resource, Status *status);

#endif
