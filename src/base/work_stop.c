#include "base/work_stop.h"

#include <stddef.h>

#include "base/clock.h"

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

void parallel_work_until_stopped(const Parallel *parallel, int64_t count, double work, ParallelBody *body,
                                 void *arg) {
  enum { GRAINS = 40 }; /* of about 50 microseconds each */
  int64_t grain = parallel_grain(work), most = INT64_MAX / GRAINS / parallel_threads(parallel);
  int64_t size = grain > most ? count : grain * GRAINS * parallel_threads(parallel);
  if (!thread_stop || size >= count) {
    parallel_work(parallel, count, work, body, arg);
    return;
  }
  Piece piece = {body, arg, 0};
  for (; piece.first < count && !work_is_stopped(); piece.first += size) {
    int64_t left = count - piece.first;
    parallel_work(parallel, left < size ? left : size, work, run_piece, &piece);
  }
}
