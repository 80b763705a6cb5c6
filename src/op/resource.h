/* Resources: state that outlives a step (variables). A resource handle is what flows along DT_RESOURCE edges;
 * the manager of a session finds or makes the resource behind (container, name). */
#ifndef TFCORE_OP_RESOURCE_H_
#define TFCORE_OP_RESOURCE_H_

#include "base/string_map.h"
#include "tensor/tensor.h"

/* Base of every resource; refcounted by the manager and by the handles. */
typedef struct Resource {
  TensorObject object;
  const char *type_name; /* "Variable"; static text, compared by content */
  /* Of a resource of one step: drops what it holds, when the step ends. NULL: it may keep that. */
  void (*close)(struct Resource *resource);
} Resource;

/* The element of a DT_RESOURCE tensor. Points directly to its resource, so steps do no lookups. */
typedef struct ResourceHandle {
  TensorObject object;
  char *container, *name;
  Resource *resource; /* one reference */
} ResourceHandle;

/* A variable's value. `value` is empty until first assigned. A read shares the buffer; an update writes in
 * place when nobody shares it and copies first otherwise. */
typedef struct Variable {
  Resource resource;
  DataType dtype;
  Tensor value;
  Shape declared; /* of a reference variable: what is assigned first must have this shape; a scalar's for
                     resource variables */
} Variable;

typedef struct ResourceManager ResourceManager;

ResourceManager *resource_manager_new(void);
/* Drops every resource; handles that still live keep theirs, but variables of type variant lose their values:
 * a list in one of them may hold a handle of the variable itself. NULL is fine. */
void resource_manager_free(ResourceManager *manager);
/* Puts a resource under a name that is free; the manager takes one reference of its own. ALREADY_EXISTS
 * "Resource container/name/type". */
MUST_CHECK bool resource_manager_add(ResourceManager *manager, Str container, Str name, Resource *resource,
                                     Status *status);
/* Finds the variable, or makes an uninitialised one. INVALID_ARGUMENT when the name holds something else, or
 * a variable of another dtype. Borrowed. Thread-safe, as resource_manager_add is. */
MUST_CHECK bool resource_manager_variable(ResourceManager *manager, Str container, Str name, DataType dtype,
                                          Variable **variable, Status *status);
/* The same for reference variables (VariableV2), which have names of their own. `declared` is what a
 * new one declares (NULL: its shape is not known); where that has no elements, the variable is
 * initialised at once. */
MUST_CHECK bool resource_manager_reference(ResourceManager *manager, Str container, Str name, DataType dtype,
                                           const Shape *declared, Variable **variable, Status *status);
/* Variables of one step (TemporaryVariable). ALREADY_EXISTS while the step has one of that name; the manager
 * takes a reference of its own. */
MUST_CHECK bool resource_manager_add_temporary(ResourceManager *manager, int64_t step_id, Str name,
                                               Variable *variable, Status *status);
/* Forgets the variable of that name. NOT_FOUND when the step has none, or no longer. */
MUST_CHECK bool resource_manager_remove_temporary(ResourceManager *manager, int64_t step_id, Str name,
                                                  Status *status);
/* Keeps a resource without a name (a stack, an array of tensors) until its step ends; the manager takes a
 * reference of its own. */
MUST_CHECK bool resource_manager_keep_for_step(ResourceManager *manager, int64_t step_id, Resource *resource,
                                               Status *status);
/* Forgets all resources of the step. They are closed first: one may hold a handle of another, or its own.
 * NULL is fine. */
void resource_manager_end_step(ResourceManager *manager, int64_t step_id);
/* A new variable that no manager knows, with one reference; NULL when out of memory. */
Variable *variable_new(DataType dtype);
/* A new handle with one reference; it takes a reference of its own to the resource. */
MUST_CHECK bool resource_handle_new(Str container, Str name, Resource *resource, ResourceHandle **handle,
                                    Status *status);
/* A DT_RESOURCE scalar that holds a new handle. */
MUST_CHECK bool resource_handle_tensor(Str container, Str name, Resource *resource, Tensor *tensor,
                                       Status *status);
/* The resource behind a DT_RESOURCE scalar, borrowed. INVALID_ARGUMENT when it has another type name. */
MUST_CHECK bool tensor_resource(const Tensor *handle, const char *type_name, Resource **resource,
                                Status *status);
/* The variable behind a DT_RESOURCE scalar. INVALID_ARGUMENT when it is no variable, FAILED_PRECONDITION when
 * it is none yet. */
MUST_CHECK bool tensor_variable(const Tensor *handle, Variable **variable, Status *status);
/* Makes the variable's buffer writable: copies when it is shared. FAILED_PRECONDITION "Attempting to use
 * uninitialized value v" when empty. */
MUST_CHECK bool variable_prepare_update(Variable *variable, const char *name, BufferPool *pool,
                                        Status *status);

/* The variable that a reference refers to, which must have been assigned; errors as of reference_read. */
MUST_CHECK bool reference_variable(const Tensor *reference, const char *name, Variable **variable,
                                   Status *status);
/* Checks that the variable that a reference refers to was assigned; other resources always are. Errors as of
 * reference_read. */
MUST_CHECK bool reference_check(const Tensor *reference, const char *name, Status *status);
/* What a reference (the handle that an output of a type such as float_ref carries) refers to now, shared;
 * later updates leave it as it is. FAILED_PRECONDITION "Attempting to use uninitialized value v" when it was
 * not assigned; `name` is for the message. */
MUST_CHECK bool reference_read(const Tensor *reference, const char *name, Tensor *value, Status *status);

#endif
