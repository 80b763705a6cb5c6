/* BufferHeap: the memory of a pool's large buffers. Blocks are cut from regions; a request takes the smallest
 * free block that is large enough, and free neighbours become one block.
 *
 * Steps that repeat need one region. The first step takes a region when a request finds no block, and blocks
 * of different regions cannot join. buffer_heap_settle(), called between steps, frees these regions, and the
 * next step gets a single one of the size that all blocks of the step before had at its peak. If gaps between
 * blocks make that too small, the step takes more regions, and the one after it tries with a slightly larger
 * one. After a few steps one is large enough, and steps allocate nothing.
 *
 * The caller locks. Only functions whose comment says so allocate or free memory, so that this can be done
 * without a lock.
 */
#ifndef TFCORE_TENSOR_BUFFER_HEAP_H_
#define TFCORE_TENSOR_BUFFER_HEAP_H_

#include <stdbool.h>
#include <stdint.h>

/* Free blocks by the logarithm of their size. */
enum { HEAP_BINS = 64 };

typedef struct HeapBlock HeapBlock;
typedef struct HeapRegion HeapRegion;

typedef struct BufferHeap {
  HeapBlock *bins[HEAP_BINS];
  HeapRegion *regions;
  int64_t held;      /* bytes of regions */
  int64_t used;      /* of these, bytes of blocks in use */
  int64_t peak_used; /* since it was settled */
  int64_t target;    /* what the first region of a step is to raise `held` to; 0: not known yet */
  bool met_target;   /* since it was settled, by a region of that size */
  bool is_scattered; /* since it was settled, it got other regions */
} BufferHeap;

/* A block of at least `size` bytes, aligned to 64 bytes; NULL when no free block is large enough. */
void *buffer_heap_take(BufferHeap *heap, int64_t size);
/* The usable bytes of a block. */
int64_t buffer_heap_block_size(const void *memory);
/* Takes a block back. */
void buffer_heap_give(BufferHeap *heap, void *memory);

/* The size of the region that serves a request of that size. */
int64_t buffer_heap_region_size(const BufferHeap *heap, int64_t size);
/* Allocates a region of that size, or of less if memory is short, but for the request at least; NULL when out
 * of memory. */
HeapRegion *heap_region_new(int64_t region_size, int64_t request);
void buffer_heap_add(BufferHeap *heap, HeapRegion *region);

/* Removes the regions without blocks in use, for heap_regions_free. */
HeapRegion *buffer_heap_remove_free(BufferHeap *heap);
/* Ends a step. Returns regions that are not needed any more, for heap_regions_free. */
HeapRegion *buffer_heap_settle(BufferHeap *heap);
/* Frees a list of regions. */
void heap_regions_free(HeapRegion *regions);

#endif
