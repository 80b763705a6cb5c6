/* The structs behind the opaque types of tensorflow/c/kernels.h. */
#ifndef TFCORE_C_API_KERNELS_INTERNAL_H_
#define TFCORE_C_API_KERNELS_INTERNAL_H_

#include "c_api/c_api_internal.h"
#include "op/kernel_registry.h"
#include "tensorflow/c/kernels.h"

/* Once registered, the kernel registry owns it. */
struct TF_KernelBuilder {
  Arena *arena; /* holds the builder itself */
  KernelDef *def;
  void *(*create)(TF_OpKernelConstruction *);
  void (*compute)(void *, TF_OpKernelContext *);
  void (*destroy)(void *);
  bool out_of_memory;
};

struct TF_OpKernelConstruction {
  const KernelConstruction *construction;
  Status failure;
};

/* The state of a kernel that calls a builder's functions. */
typedef struct ForeignKernel {
  const TF_KernelBuilder *builder; /* NULL: nothing to delete */
  void *kernel;
  const OpDef *op_def;
  int *input_starts; /* the first input of each input_arg */
} ForeignKernel;

struct TF_OpKernelContext {
  KernelContext *context;
  const ForeignKernel *kernel;
  Status failure;
};

#endif
