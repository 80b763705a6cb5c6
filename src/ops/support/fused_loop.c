/* The loops of a thread, and when their code is made. */
#include "ops/support/fused_loop.h"

#include <stddef.h>
#include <string.h>

#include "blas/reduce.h"
#include "ops/support/fused_emit.h"

bool fused_loop_sums(const FusedLoop *loop) {
  return loop->num_nodes > 0 && loop->nodes[loop->num_nodes - 1].formula == FUSED_LOOP_SUM;
}

uint8_t fused_loop_unit(const FusedLoop *loop) {
  int lanes = loop->is_double ? 2 : 4;
  if (fused_loop_sums(loop)) return (uint8_t)(REDUCE_VECTORS * lanes);
  int nodes = loop->num_nodes - loop->num_single;
  return (uint8_t)(nodes <= 3 ? 4 * lanes : nodes <= 8 ? 2 * lanes : lanes);
}

static size_t used_bytes(const FusedLoop *loop) {
  return offsetof(FusedLoop, nodes) + loop->num_nodes * sizeof *loop->nodes;
}

uint32_t fused_loop_hash(const FusedLoop *loop) {
  uint32_t mixed = 0;
  for (size_t at = 0; at < used_bytes(loop); at += sizeof mixed) {
    uint32_t word;
    memcpy(&word, (const char *)loop + at, sizeof word);
    mixed = (mixed ^ word) * 0x9e3779b1u;
    mixed ^= mixed >> 15;
  }
  return mixed;
}

/* Elements times nodes: about a millisecond of work. */
static int64_t warm = 1 << 20;

int64_t fused_loop_warm_after(int64_t work) {
  int64_t before = warm;
  warm = work;
  return before;
}

#if EMITTED_CODE
/* A power of 2, of which at most three quarters are in use. */
enum { PLACES = 128, MOST_LOOPS = PLACES / 4 * 3 };
typedef struct KnownLoop {
  FusedLoop loop;
  int64_t done; /* elements times nodes */
  bool is_refused;
  EmittedLoop *code;   /* of this loop, or NULL */
  EmittedLoop *before; /* of a loop that was forgotten: its place in the function table is free */
} KnownLoop;

static _Thread_local KnownLoop known[PLACES];
static _Thread_local int num_known;

/* The loop, or the free place for it. */
static KnownLoop *find(const FusedLoop *loop, uint32_t hash) {
  uint32_t place = hash % PLACES;
  while (known[place].loop.num_nodes > 0 && memcmp(&known[place].loop, loop, used_bytes(loop)) != 0)
    place = (place + 1) % PLACES;
  return &known[place];
}

/* When there are too many, all are forgotten; their places in the function table are used again. */
void fused_loop_reserve(int count) {
  if (num_known + count <= MOST_LOOPS) return;
  for (int i = 0; i < PLACES; i++)
    known[i] = (KnownLoop){.before = known[i].code ? known[i].code : known[i].before};
  num_known = 0;
}

EmittedLoop *fused_loop_code(const FusedLoop *loop, uint32_t hash, int64_t elements) {
  KnownLoop *found = find(loop, hash);
  if (found->loop.num_nodes == 0) {
    found->loop = *loop;
    num_known++;
  }
  found->done += elements * loop->num_nodes;
  if (found->done < warm || found->is_refused) return NULL;
  if (!found->code) {
    found->code = fused_emit(loop, found->before);
    found->is_refused = !found->code;
  }
  return found->code;
}

int fused_loop_count(void) {
  int count = 0;
  for (int i = 0; i < PLACES; i++) count += known[i].code != NULL;
  return count;
}
#else
int fused_loop_count(void) { return 0; }
void fused_loop_reserve(int count) { (void)count; }
EmittedLoop *fused_loop_code(const FusedLoop *loop, uint32_t hash, int64_t elements) {
  (void)loop, (void)hash, (void)elements;
  return NULL;
}
#endif
