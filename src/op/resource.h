/* Resources: state that outlives a step (variables). Resource handles flow along DT_RESOURCE edges; the
 * manager of a session finds or creates the resource of a (container, name) pair. */
#ifndef TFCORE_OP_RESOURCE_H_
#define TFCORE_OP_RESOURCE_H_

#include "base/string_map.h"
#include "tensor/tensor.h"

/* The base of every resource; the manager and the handles hold references. */
typedef struct Resource {
  TensorObject object;
  const char *type_name; /* "Variable"; static text, compared by content */
  /* NULL, or what calls the functions that it uses. It is closed when the session of these functions ends. */
  const struct FunctionCaller *caller;
  /* Drops what it holds, when its step ends or its manager is freed: that may hold a handle of the resource
   * itself. NULL: it may keep that. */
  void (*close)(struct Resource *resource);
} Resource;

/* The element of a DT_RESOURCE tensor. It points to its resource, so steps do no look-ups. */
typedef struct ResourceHandle {
  TensorObject object;
  char *container, *name;
  Resource *resource; /* one owned reference */
} ResourceHandle;

/* A variable's value. `value` is empty until first assigned. A read shares the buffer; an update writes in
 * place if the buffer is not shared and copies it first otherwise.
 *
 * Reference variables differ, as in TensorFlow: values that a step has read from one change with it until the
 * step ends. An update writes in place although these values share the buffer. */
typedef struct Variable {
  Resource resource;
  DataType dtype;
  Tensor value;
  int64_t read_in; /* the last step that has read the value by reference; its values alone share the buffer */
  Shape declared;  /* for a reference variable: the shape that the first assigned value must have; a scalar
                    * shape for resource variables */
} Variable;

typedef struct ResourceManager ResourceManager;

/* The container of resources that name none, in a process that is no part of a cluster. */
#define LOCAL_CONTAINER "localhost"

/* Resources that name no container are in LOCAL_CONTAINER; of the second function, in `container`, which is
 * copied. NULL when out of memory. */
ResourceManager *resource_manager_new(void);
ResourceManager *resource_manager_new_with(Str container);
/* What the other functions take a container for: the name itself, or that of the default container for "". */
Str resource_manager_container(const ResourceManager *manager, Str container);
/* Whether the container has a resource. A variable is one as soon as it has a value. */
bool resource_manager_has_container(ResourceManager *manager, Str container);
/* Drops every resource. Existing handles keep theirs, but variables of type variant lose their values,
 * because a list in one of them may hold a handle of the variable itself. NULL is fine. */
void resource_manager_free(ResourceManager *manager);
/* Forgets the named resources of a container. They are closed first, as when the manager is freed. Existing
 * handles keep theirs. */
void resource_manager_clear(ResourceManager *manager, Str container);
/* The same for the resources of all containers that use functions of this caller. */
void resource_manager_end_caller(ResourceManager *manager, const struct FunctionCaller *caller);
/* Adds a resource under a free name; the manager takes its own reference. ALREADY_EXISTS "Resource
 * container/name/type". */
MUST_CHECK bool resource_manager_add(ResourceManager *manager, Str container, Str name, Resource *resource,
                                     Status *status);
/* Finds the variable, or makes an uninitialised one. INVALID_ARGUMENT when the name belongs to another kind
 * of resource, or to a variable of another dtype. Borrowed. Thread-safe, like resource_manager_add. */
MUST_CHECK bool resource_manager_variable(ResourceManager *manager, Str container, Str name, DataType dtype,
                                          Variable **variable, Status *status);
/* The same for reference variables (VariableV2), which have a separate name space. `declared` is the declared
 * shape of a new variable (NULL: unknown); if it has no elements, the variable is initialised immediately. */
MUST_CHECK bool resource_manager_reference(ResourceManager *manager, Str container, Str name, DataType dtype,
                                           const Shape *declared, Variable **variable, Status *status);
/* Finds the resource with that type name and name, or lets `make` make it (one reference, or NULL with
 * status). Each type has a separate name space. Borrowed. Thread-safe; `make` must not call the manager. */
MUST_CHECK bool resource_manager_find_or_make(ResourceManager *manager, Str container, Str name,
                                              const char *type_name,
                                              Resource *(*make)(void *argument, Status *status),
                                              void *argument, Resource **resource, Status *status);
/* Adds a variable of one step (TemporaryVariable). ALREADY_EXISTS while the step has a variable of that name;
 * the manager takes its own reference. */
MUST_CHECK bool resource_manager_add_temporary(ResourceManager *manager, int64_t step_id, Str name,
                                               Variable *variable, Status *status);
/* Removes the variable of that name. NOT_FOUND when the step does not have it any more, or never had it. */
MUST_CHECK bool resource_manager_remove_temporary(ResourceManager *manager, int64_t step_id, Str name,
                                                  Status *status);
/* Keeps a resource without a name (a stack, an array of tensors) until its step ends; the manager takes a
 * reference of its own. */
MUST_CHECK bool resource_manager_keep_for_step(ResourceManager *manager, int64_t step_id, Resource *resource,
                                               Status *status);
/* Forgets all resources of the step. They are closed first: one may hold a handle of another, or its own.
 * NULL is fine. */
void resource_manager_end_step(ResourceManager *manager, int64_t step_id);
/* A new variable without a manager, with one reference; NULL when out of memory. */
Variable *variable_new(DataType dtype);
/* A new handle with one reference; it takes its own reference to the resource. */
MUST_CHECK bool resource_handle_new(Str container, Str name, Resource *resource, ResourceHandle **handle,
                                    Status *status);
/* A DT_RESOURCE scalar that holds a new handle. */
MUST_CHECK bool resource_handle_tensor(Str container, Str name, Resource *resource, Tensor *tensor,
                                       Status *status);
/* The resource of a DT_RESOURCE scalar, borrowed. INVALID_ARGUMENT when it has another type name. */
MUST_CHECK bool tensor_resource(const Tensor *handle, const char *type_name, Resource **resource,
                                Status *status);
/* The variable of a DT_RESOURCE scalar. INVALID_ARGUMENT when it is not a variable, FAILED_PRECONDITION when
 * it does not exist yet. */
MUST_CHECK bool tensor_variable(const Tensor *handle, Variable **variable, Status *status);
/* Makes the variable's buffer writable for a step: copies when it is shared, unless by values that the step
 * has read from a reference variable. FAILED_PRECONDITION "Attempting to use uninitialized value v" when
 * empty. */
MUST_CHECK bool variable_prepare_update(Variable *variable, const char *name, int64_t step_id,
                                        BufferPool *pool, Status *status);
/* Sets the value of a reference variable: in place if values that the step has read share the buffer. With
 * `may_take` nothing else uses the buffer of `value` afterwards, so that the variable shares it. */
MUST_CHECK bool reference_assign(Variable *variable, const Tensor *value, bool may_take, int64_t step_id,
                                 BufferPool *pool, Status *status);

/* The variable of a reference, which must have been assigned; errors as for reference_read. */
MUST_CHECK bool reference_variable(const Tensor *reference, const char *name, Variable **variable,
                                   Status *status);
/* Checks that the variable that a reference refers to was assigned; other resources always are. Errors as of
 * reference_read. */
MUST_CHECK bool reference_check(const Tensor *reference, const char *name, Status *status);
/* The current value of a reference (the handle in an output of a type such as float_ref), shared; later
 * updates of the same step change it. FAILED_PRECONDITION "Attempting to use uninitialized value v" when it
 * was not assigned; `name` is for the message. */
MUST_CHECK bool reference_read(const Tensor *reference, const char *name, int64_t step_id, Tensor *value,
                               Status *status);

#endif
