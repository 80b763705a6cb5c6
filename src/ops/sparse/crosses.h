/* Feature crosses: for each row of a batch, all combinations of the features that several columns have in
 * that row, as texts or hashes.
 *
 *   Crossing crossing = {.columns = columns, .count = n, .rows = rows, .mode = CROSS_TEXT, ...};
 *   TRY(crosses_count(&crossing, &total, &longest, status));
 *   ... allocate `total` values ...
 *   TRY(crosses_write(&crossing, values, note_row, arg, status));
 */
#ifndef TFCORE_OPS_SPARSE_CROSSES_H_
#define TFCORE_OPS_SPARSE_CROSSES_H_

#include "op/kernel.h"

/* int64 or string features. Exactly one of `indices` and `splits` is set for sparse and ragged columns, none
 * for dense ones, where each row has `width` features. */
typedef struct CrossColumn {
  const Tensor *values, *indices, *splits;
  int64_t width;
  bool loose;                    /* a sparse row takes all entries up to its number, not only its own */
  int64_t cursor, begin, length; /* of the current row */
  int64_t chosen;                /* feature of the current combination */
} CrossColumn;

typedef enum CrossMode {
  CROSS_TEXT,       /* the features with `separator` between them */
  CROSS_HASH,       /* hashes, with `key` as the first */
  CROSS_PLAIN_HASH, /* hashes, without a key; integers of sparse columns are hashed as 4 bytes */
  CROSS_STRONG_HASH /* the same with SipHash and `salt` */
} CrossMode;

typedef struct Crossing {
  CrossColumn *columns;
  int count;
  int64_t rows;
  CrossMode mode;
  Str separator;
  uint64_t key, salt[2];
  int64_t num_buckets;
} Crossing;

/* The number of crosses of all rows, and of the row with the most. INVALID_ARGUMENT if they are too many. */
MUST_CHECK bool crosses_count(Crossing *crossing, int64_t *total, int64_t *longest, Status *status);
/* Writes the crosses of all rows to `values`, a vector of strings or int64; `note` is called for each row, in
 * order, with the number of its crosses. */
typedef void NoteCrosses(void *arg, int64_t row, int64_t begin, int64_t count);
MUST_CHECK bool crosses_write(Crossing *crossing, Tensor *values, NoteCrosses *note, void *arg,
                              Status *status);

#endif
