/* Tensor bundles: TensorFlow's checkpoints of version 2. <prefix>.index is a table (checkpoint/table.h) with
 * a BundleEntry for each tensor, and <prefix>.data-00000-of-00001 (one file per shard) holds their elements
 * one after the other. Files are accessed through base/file_store.h. */
#ifndef TFCORE_CHECKPOINT_BUNDLE_H_
#define TFCORE_CHECKPOINT_BUNDLE_H_

#include "base/file_store.h"
#include "checkpoint/tensor_slice.h"

/* --- writing --- */

typedef struct BundleWriter BundleWriter;

/* Begins a checkpoint of one shard under temporary names, and creates the folder, one level. */
MUST_CHECK bool bundle_writer_new(Str prefix, BundleWriter **writer, Status *status);
/* Frees it; the files of an unfinished checkpoint are removed. NULL is fine. */
void bundle_writer_free(BundleWriter *writer);
/* Writes one tensor. INVALID_ARGUMENT "Adding duplicate key: x"; UNIMPLEMENTED for resources and variants. */
MUST_CHECK bool bundle_writer_add(BundleWriter *writer, Str name, const Tensor *tensor, Status *status);
/* Writes a slice of a tensor of shape `shape`. */
MUST_CHECK bool bundle_writer_add_slice(BundleWriter *writer, Str name, const Shape *shape,
                                        const TensorSlice *slice, const Tensor *tensor, Status *status);
/* Writes the index and renames the files, replacing an existing checkpoint: readers find the old checkpoint
 * or the new one, even when this fails or the process ends. If several threads or processes save the same
 * prefix concurrently, the last one wins. A lock of the folder separates processes; the files of Node
 * (wasm/wasm_files.c) have no such lock. */
MUST_CHECK bool bundle_writer_finish(BundleWriter *writer, Status *status);

/* --- reading --- */

typedef struct BundleReader BundleReader;

/* Whether the prefix has an index. */
bool bundle_exists(Str prefix);
MUST_CHECK bool bundle_reader_open(Str prefix, BundleReader **reader, Status *status);
void bundle_reader_free(BundleReader *reader); /* NULL is fine */
/* The number of data files. */
int32_t bundle_reader_num_shards(const BundleReader *reader);
/* The number of tensors, and their names, sorted; borrowed. */
int64_t bundle_reader_num_tensors(const BundleReader *reader);
Str bundle_reader_name(const BundleReader *reader, int64_t i);
bool bundle_reader_contains(const BundleReader *reader, Str name);
/* The dtype and shape of a tensor; for a sliced tensor the full shape. NOT_FOUND "Key x not found in
 * checkpoint". */
MUST_CHECK bool bundle_reader_look_up(BundleReader *reader, Str name, DataType *dtype, Shape *shape,
                                      Status *status);
/* Reads the whole tensor, or a slice of it. Length and checksum are checked: DATA_LOSS. */
MUST_CHECK bool bundle_reader_read(BundleReader *reader, Str name, BufferPool *pool, Tensor *tensor,
                                   Status *status);
MUST_CHECK bool bundle_reader_read_slice(BundleReader *reader, Str name, const TensorSlice *slice,
                                         BufferPool *pool, Tensor *tensor, Status *status);

/* --- merging --- */

/* Merges several checkpoints into one, and removes their files afterwards. With `allow_missing`, prefixes
 * without an index are skipped, as long as one has an index. */
MUST_CHECK bool bundle_merge(const Str *prefixes, int64_t count, bool allow_missing, Str destination,
                             Status *status);

#endif
