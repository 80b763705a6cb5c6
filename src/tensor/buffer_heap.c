#include "tensor/buffer_heap.h"

#include <stddef.h>

#include "base/alloc.h"

enum { UNIT = 64, SMALLEST_REST = 4096 };

/* In front of the memory of each block. */
struct HeapBlock {
  int64_t size; /* with this header */
  HeapRegion *region;
  HeapBlock *before; /* the neighbour; NULL: this is the first block of the region */
  HeapBlock *next_free, *previous_free;
  bool is_free, is_last;
};
_Static_assert(sizeof(HeapBlock) <= UNIT, "memory stays aligned behind the header");

struct HeapRegion {
  int64_t size; /* of all blocks, which follow this header */
  HeapRegion *next;
};
_Static_assert(sizeof(HeapRegion) <= UNIT, "blocks stay aligned behind the header");

static HeapBlock *first_block(HeapRegion *region) { return (HeapBlock *)((char *)region + UNIT); }

static HeapBlock *block_of(const void *memory) { return (HeapBlock *)((char *)memory - UNIT); }

/* The neighbour behind a block; NULL: none. */
static HeapBlock *block_after(HeapBlock *block) {
  return block->is_last ? NULL : (HeapBlock *)((char *)block + block->size);
}

static int64_t units(int64_t size) { return (size + UNIT - 1) / UNIT * UNIT; }

static int64_t block_size_for(int64_t size) { return units(size) + UNIT; }

static int bin_of(int64_t size) { return 63 - __builtin_clzll((uint64_t)size); }

static void link_free(BufferHeap *heap, HeapBlock *block) {
  HeapBlock **bin = &heap->bins[bin_of(block->size)];
  block->is_free = true;
  block->previous_free = NULL;
  block->next_free = *bin;
  if (*bin) (*bin)->previous_free = block;
  *bin = block;
}

static void unlink_free(BufferHeap *heap, HeapBlock *block) {
  if (block->previous_free) {
    block->previous_free->next_free = block->next_free;
  } else {
    heap->bins[bin_of(block->size)] = block->next_free;
  }
  if (block->next_free) block->next_free->previous_free = block->previous_free;
  block->is_free = false;
}

/* The smallest free block of at least that size; among equals the one in front, which keeps the rest of a
 * region whole. */
static HeapBlock *find_block(const BufferHeap *heap, int64_t size) {
  HeapBlock *best = NULL;
  for (int bin = bin_of(size); bin < HEAP_BINS && !best; bin++) {
    for (HeapBlock *block = heap->bins[bin]; block; block = block->next_free) {
      if (block->size < size) continue;
      if (!best || block->size < best->size || (block->size == best->size && block < best)) best = block;
    }
  }
  return best;
}

/* Cuts what exceeds `size` off the block, if that is worth a block. */
static void split_block(BufferHeap *heap, HeapBlock *block, int64_t size) {
  if (block->size - size < SMALLEST_REST) return;
  HeapBlock *after = block_after(block), *rest = (HeapBlock *)((char *)block + size);
  *rest = (HeapBlock){.size = block->size - size,
                      .region = block->region,
                      .before = block,
                      .is_last = block->is_last};
  block->size = size;
  block->is_last = false;
  if (after) after->before = rest;
  link_free(heap, rest);
}

void *buffer_heap_take(BufferHeap *heap, int64_t size) {
  int64_t needed = block_size_for(size);
  HeapBlock *block = find_block(heap, needed);
  if (!block) return NULL;
  unlink_free(heap, block);
  split_block(heap, block, needed);
  heap->used += block->size;
  if (heap->used > heap->peak_used) heap->peak_used = heap->used;
  return (char *)block + UNIT;
}

int64_t buffer_heap_block_size(const void *memory) { return block_of(memory)->size - UNIT; }

/* Makes one block of two neighbours. */
static void join_blocks(HeapBlock *block, HeapBlock *after) {
  block->size += after->size;
  block->is_last = after->is_last;
  HeapBlock *next = block_after(block);
  if (next) next->before = block;
}

void buffer_heap_give(BufferHeap *heap, void *memory) {
  HeapBlock *block = block_of(memory), *after = block_after(block), *before = block->before;
  heap->used -= block->size;
  if (after && after->is_free) {
    unlink_free(heap, after);
    join_blocks(block, after);
  }
  if (before && before->is_free) {
    unlink_free(heap, before);
    join_blocks(before, block);
    block = before;
  }
  link_free(heap, block);
}

/* --- regions --- */

/* Without a target, regions grow with what is held, so that most blocks have neighbours to join. */
enum { GROWTH = 8, GROWTH_BEYOND_TARGET = 32 };

int64_t buffer_heap_region_size(const BufferHeap *heap, int64_t size) {
  int64_t needed = block_size_for(size), wanted = heap->target - heap->held;
  if (wanted <= 0) wanted = heap->held / (heap->target > 0 ? GROWTH_BEYOND_TARGET : GROWTH);
  return wanted > needed ? units(wanted) : needed;
}

HeapRegion *heap_region_new(int64_t region_size, int64_t request) {
  int64_t size = region_size, needed = block_size_for(request);
  HeapRegion *region = mem_alloc(UNIT + size);
  if (!region && size > needed) region = mem_alloc(UNIT + (size = needed));
  if (region) *region = (HeapRegion){.size = size};
  return region;
}

void buffer_heap_add(BufferHeap *heap, HeapRegion *region) {
  HeapBlock *block = first_block(region);
  *block = (HeapBlock){.size = region->size, .region = region, .is_last = true};
  link_free(heap, block);
  region->next = heap->regions;
  heap->regions = region;
  heap->held += region->size;
  bool meets_target = !heap->met_target && heap->target > 0 && heap->held >= heap->target;
  heap->met_target = heap->met_target || meets_target;
  heap->is_scattered = heap->is_scattered || !meets_target;
}

static bool is_unused(HeapRegion *region) {
  const HeapBlock *block = first_block(region);
  return block->is_free && block->is_last;
}

HeapRegion *buffer_heap_remove_free(BufferHeap *heap) {
  HeapRegion *removed = NULL;
  for (HeapRegion **link = &heap->regions; *link;) {
    HeapRegion *region = *link;
    if (!is_unused(region)) {
      link = &region->next;
      continue;
    }
    *link = region->next;
    unlink_free(heap, first_block(region));
    heap->held -= region->size;
    region->next = removed;
    removed = region;
  }
  return removed;
}

/* What the next step is to hold: what this one used at once, or more if it had that and gaps made it too
 * small. */
static int64_t next_target(const BufferHeap *heap) {
  int64_t more = units(heap->target + heap->target / GROWTH_BEYOND_TARGET);
  if (!heap->met_target || more < heap->peak_used) return heap->peak_used;
  return more < heap->held ? more : heap->held;
}

HeapRegion *buffer_heap_settle(BufferHeap *heap) {
  HeapRegion *removed = NULL;
  if (heap->is_scattered) {
    heap->target = next_target(heap);
    removed = buffer_heap_remove_free(heap);
  }
  heap->peak_used = heap->used;
  heap->is_scattered = heap->met_target = false;
  return removed;
}

void heap_regions_free(HeapRegion *regions) {
  for (HeapRegion *next; regions; regions = next) {
    next = regions->next;
    mem_free(regions);
  }
}
