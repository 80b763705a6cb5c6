/* The names that tell instantiations apart: TensorFlow's Canonicalize. */
#ifndef TFCORE_FUNCTION_FUNCTION_CANONICALIZE_H_
#define TFCORE_FUNCTION_FUNCTION_CANONICALIZE_H_

#include "graph/function_library.h"

/* How an instantiation runs, besides its attrs. NULL or empty fields are not written. */
typedef struct InstantiateOptions {
  const char *target; /* the device of the whole function */
  const char *const *input_devices, *const *output_devices;
  int num_input_devices, num_output_devices;
  const FunctionLibraryDefinition *library; /* instead of the caller's */
  const char *state_handle;  /* instantiations with different handles have their own stateful kernels */
  const char *executor_type; /* wins over an attr "_executor" */
  Str config_proto;          /* serialised */
} InstantiateOptions;

/* "MatMul[T=float,transpose_a=false]": the same text for equal instantiations, different texts for others.
 * Attrs are sorted as texts, together with the options: "_target=...", "_input_dev0=...",
 * "_output_dev0=...", "_lib_def=...", "_state_handle=...", "_executor=...", "_config_proto=...". As
 * TensorFlow's Canonicalize, but nothing is cut or hashed. */
void function_canonicalize(const char *name, const AttrEntry *const *attrs, int num_attrs, StrBuf *out);
void function_canonicalize_with(const char *name, const AttrEntry *const *attrs, int num_attrs,
                                const InstantiateOptions *options, StrBuf *out);

#endif
