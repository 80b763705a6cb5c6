/* Checkpoints of version 1: one table per shard. Its first record (key "") lists all tensors with their
 * slices; each other record holds the values of one slice as a TensorProto. */
#ifndef TFCORE_CHECKPOINT_SLICE_FILE_H_
#define TFCORE_CHECKPOINT_SLICE_FILE_H_

#include "base/file_store.h"
#include "checkpoint/tensor_slice.h"

typedef struct SliceFileWriter SliceFileWriter;

/* Collects tensors in memory until the file is written. NULL when out of memory. */
SliceFileWriter *slice_file_writer_new(void);
void slice_file_writer_free(SliceFileWriter *writer); /* NULL is fine */
/* Adds a slice of a tensor of `shape`. A slice that was added before is ignored, as in TensorFlow; INTERNAL
 * when the tensor was added with another shape or type. */
MUST_CHECK bool slice_file_writer_add(SliceFileWriter *writer, Str name, const Shape *shape,
                                      const TensorSlice *slice, const Tensor *tensor, Status *status);
/* Writes the file through a draft (base/file_draft.h). */
MUST_CHECK bool slice_file_writer_finish(SliceFileWriter *writer, Str path, Status *status);

/* Reads a tensor from the files that match the pattern; `shape_and_slice` may be empty. */
MUST_CHECK bool slice_file_restore(Str pattern, Str name, Str shape_and_slice, DataType dtype, Tensor *tensor,
                                   Status *status);

#endif
