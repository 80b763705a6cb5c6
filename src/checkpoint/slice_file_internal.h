/* Declarations shared by the files for version 1. */
#ifndef TFCORE_CHECKPOINT_SLICE_FILE_INTERNAL_H_
#define TFCORE_CHECKPOINT_SLICE_FILE_INTERNAL_H_

#include "checkpoint/slice_file.h"

/* TensorFlow's versions of this format. */
enum { SLICE_FILE_VERSION = 1 };

/* Stores the elements in the *_val field of their type; texts are borrowed from the tensor. */
MUST_CHECK bool slice_values_set(const Tensor *tensor, Arena *arena, TensorProto *proto, Status *status);

#endif
