/* The structs behind the opaque types of eager execution. */
#ifndef TFCORE_NATIVE_NATIVE_EAGER_H_
#define TFCORE_NATIVE_NATIVE_EAGER_H_

#include "c_api/c_api_internal.h"
#include "eager/eager.h"
#include "tensorflow/c/eager/c_api.h"

struct TFE_Context {
  TF_Graph *graph;
  TF_Session *session;
  EagerContext *eager;
  TFE_ContextDevicePlacementPolicy policy;
  atomic_bool is_soft;  /* ops on devices that there are none of run on another one */
  atomic_bool is_async; /* of the executor that was set */
};

struct TFE_TensorHandle {
  Tensor value;
  char *device;
};

struct TFE_Op {
  TFE_Context *context;
  const Op *op;
  Arena *arena;
  NodeDef *def;
  TFE_TensorHandle **inputs; /* the op's own handles */
  int *list_lengths;         /* EagerCall.list_lengths */
  int64_t input_capacity, length_capacity;
  int num_inputs;
  bool failed; /* out of memory while attrs were set; the execution reports it */
};

/* A handle that takes the contents of `value`, also when it fails: NULL with status. */
TFE_TensorHandle *new_tensor_handle(Tensor *value, const char *device, Status *status);

#endif
