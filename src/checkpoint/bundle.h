/* Tensor bundles: TensorFlow's checkpoints of version 2. <prefix>.index is a table (checkpoint/table.h) of a
 * BundleEntry for each tensor, and <prefix>.data-00000-of-00001 (as many as there are shards) holds their
 * elements one after the other. Files are reached through base/file_store.h. */
#ifndef TFCORE_CHECKPOINT_BUNDLE_H_
#define TFCORE_CHECKPOINT_BUNDLE_H_

#include "base/file_store.h"
#include "checkpoint/tensor_slice.h"

/* --- writing --- */

typedef struct BundleWriter BundleWriter;

/* Begins a checkpoint of one shard under names of its own; the folder is made, one level. */
MUST_CHECK bool bundle_writer_new(Str prefix, BundleWriter **writer, Status *status);
/* Frees it; files of a checkpoint that was not finished go. NULL is fine. */
void bundle_writer_free(BundleWriter *writer);
/* Writes one tensor. INVALID_ARGUMENT "Adding duplicate key: x"; UNIMPLEMENTED for resources and variants. */
MUST_CHECK bool bundle_writer_add(BundleWriter *writer, Str name, const Tensor *tensor, Status *status);
/* Writes a slice of a tensor whose whole shape is `shape`. */
MUST_CHECK bool bundle_writer_add_slice(BundleWriter *writer, Str name, const Shape *shape,
                                        const TensorSlice *slice, const Tensor *tensor, Status *status);
/* Writes the index and gives the files their names, replacing what was there: readers find the old checkpoint
 * or the new one, also when this fails or the process ends. Of several that save the same prefix at the same
 * time, threads or processes, the last one wins; processes are kept apart by a lock of the folder, which the
 * files of Node (wasm/wasm_files.c) do not have. */
MUST_CHECK bool bundle_writer_finish(BundleWriter *writer, Status *status);

/* --- reading --- */

typedef struct BundleReader BundleReader;

/* Whether there is an index of that prefix. */
bool bundle_exists(Str prefix);
MUST_CHECK bool bundle_reader_open(Str prefix, BundleReader **reader, Status *status);
void bundle_reader_free(BundleReader *reader); /* NULL is fine */
bool bundle_reader_contains(const BundleReader *reader, Str name);
/* What the checkpoint knows of a tensor; the shape is that of the whole one. NOT_FOUND "Key x not found in
 * checkpoint". */
MUST_CHECK bool bundle_reader_look_up(BundleReader *reader, Str name, DataType *dtype, Shape *shape,
                                      Status *status);
/* The whole tensor, or a slice of it. Length and checksum are checked: DATA_LOSS. */
MUST_CHECK bool bundle_reader_read(BundleReader *reader, Str name, BufferPool *pool, Tensor *tensor,
                                   Status *status);
MUST_CHECK bool bundle_reader_read_slice(BundleReader *reader, Str name, const TensorSlice *slice,
                                         BufferPool *pool, Tensor *tensor, Status *status);

/* --- merging --- */

/* Makes one checkpoint of several, whose files go when it is there. Prefixes without an index are passed over
 * when `allow_missing` is set, as long as there is one that has it. */
MUST_CHECK bool bundle_merge(const Str *prefixes, int64_t count, bool allow_missing, Str destination,
                             Status *status);

#endif
