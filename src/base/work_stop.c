#include "base/work_stop.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/parallel.h"

static _Thread_local WorkStop *thread_stop;

WorkStop *work_stop_set(WorkStop *stop) {
  WorkStop *before = thread_stop;
  thread_stop = stop;
  return before;
}

bool work_is_stopped(void) {
  WorkStop *stop = thread_stop;
  if (!stop) return false;
  if (!stop->stopped)
    stop->stopped = (stop->cancelled && atomic_load_explicit(stop->cancelled, memory_order_relaxed)) ||
                    (stop->deadline != INT64_MAX && clock_nanoseconds() >= stop->deadline);
  return stop->stopped;
}

typedef struct Piece {
  ParallelBody *body;
  void *arg;
  int64_t first;
} Piece;

static void run_piece(void *arg, int64_t begin, int64_t end) {
  const Piece *piece = arg;
  piece->body(piece->arg, piece->first + begin, piece->first + end);
}

enum { THREADS = 2 }; /* the fewest that share a loop */

/* Splits the range if each of two threads gets a grain, or a `fraction`-th of it. Loops over single elements
 * compute vectors of them, which takes much less than a unit of work for each. The pieces are smaller than
 * what is worth a thread, so that the threads end at about the same time. */
static void split(const Parallel *parallel, int64_t count, double work, int fraction, ParallelBody *body,
                  void *arg) {
  enum { PIECES = 4, CHEAPER = 4, ELEMENTS = PARALLEL_WORK / 4 };
  int64_t scale = parallel_grain(work) >= ELEMENTS ? CHEAPER : 1;
  int64_t enough = parallel_indices(work, PARALLEL_WORK / fraction) * scale;
  int64_t piece = enough / PIECES + (enough % PIECES != 0);
  double grains = (double)count * (work > 1 ? work : 1) / (double)(PARALLEL_WORK * scale);
  ParallelLength length = grains >= PARALLEL_WAKE ? PARALLEL_LONG
                          : grains >= THREADS     ? PARALLEL_SHORT
                                                  : PARALLEL_BRIEF;
  parallel_split(parallel, count, count / THREADS >= enough ? piece : count, length, body, arg);
}

/* In parts that take some milliseconds, so that the step can end between them. */
static void split_until_stopped(const Parallel *parallel, int64_t count, double work, int fraction,
                                ParallelBody *body, void *arg) {
  enum { GRAINS = 320 }; /* of about 6 microseconds each */
  int64_t grain = parallel_grain(work);
  if (!thread_stop) {
    split(parallel, count, work, fraction, body, arg);
    return;
  }
  int64_t most = INT64_MAX / GRAINS / parallel_threads(parallel);
  int64_t size = grain > most ? count : grain * GRAINS * parallel_threads(parallel);
  Piece piece = {body, arg, 0};
  if (size >= count) {
    if (!thread_stop->stopped) split(parallel, count, work, fraction, body, arg);
    return;
  }
  for (; piece.first < count && !work_is_stopped(); piece.first += size) {
    int64_t left = count - piece.first;
    split(parallel, left < size ? left : size, work, fraction, run_piece, &piece);
  }
}

void parallel_work(const Parallel *parallel, int64_t count, double work, ParallelBody *body, void *arg) {
  split_until_stopped(parallel, count, work, 1, body, arg);
}

/* Whether a core nearby saves more than it takes to move the data there. */
static bool pays_nearby(double work, double moved) {
  return work - moved / PARALLEL_MOVED >= THREADS * (PARALLEL_WORK / PARALLEL_NEAR);
}

void parallel_arithmetic(const Parallel *parallel, int64_t count, double work, double moved,
                         ParallelBody *body, void *arg) {
  bool pays = pays_nearby((double)count * work, (double)count * moved);
  split_until_stopped(parallel, count, work, pays ? PARALLEL_NEAR : 1, body, arg);
}

bool parallel_shares(int threads, double work, double moved) {
#ifdef TFCORE_SPLIT_ALL_LOOPS
  work = THREADS * PARALLEL_WORK;
#endif
  return threads > 1 && (work >= THREADS * PARALLEL_WORK || pays_nearby(work, moved));
}
