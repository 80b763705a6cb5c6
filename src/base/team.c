#include "base/team.h"

#include "base/clock.h"
#include "base/sync.h"
#include "base/work_stop.h"

typedef struct Phases {
  int64_t count, between_stops; /* phases between two questions whether the step has ended */
  TeamPhase *run;
  void *arg;
} Phases;

static bool is_stopped(const Phases *phases, int64_t phase) {
  return phase % phases->between_stops == 0 && work_is_stopped();
}

static void run_alone(const Phases *phases, int64_t phase) {
  for (; phase < phases->count && !is_stopped(phases, phase); phase++) phases->run(phases->arg, phase, 0, 1);
}

#if SYNC_HAS_THREADS

#include <stdatomic.h>

/* The leader is the calling thread, the others are followers. A cache line that another core wrote takes 40
 * to 200 nanoseconds, so that a phase moves two: `begun` to the followers, and `completed` to the leader. */
typedef struct Team {
  const Phases *phases;
  const Parallel *parallel;
  atomic_int followers;
  _Alignas(64) atomic_int_fast64_t begun;     /* MOST * (1 + the last phase) + its members; 0; or ENDED */
  _Alignas(64) atomic_int_fast64_t completed; /* shares, by all followers */
} Team;
enum { MOST = 256, ENDED = -1 };

/* Waits until the number is another one, and at least `least`; first without sleeping. Returns the
 * nanoseconds that this took; 0 if it took less than a few thousand. */
static int64_t await(const atomic_int_fast64_t *number, int64_t old, int64_t least) {
  enum { SPIN = 50000, LOOKS = 1000 }; /* nanoseconds; looks between two readings of the clock */
  for (int64_t begin = 0, passed = 0;;) {
    for (int i = 0; i < LOOKS; i++) {
      int64_t now = atomic_load_explicit(number, memory_order_acquire);
      if (now != old && now >= least) return passed;
    }
    int64_t now = clock_nanoseconds();
    if (begin == 0) begin = now;
    passed = now - begin;
    if (passed > SPIN) thread_nap();
  }
}

/* Runs phases with the followers, and returns how many: all, unless the step ends, or a follower has lost its
 * core to another program. The other phases are then faster without it. */
static int64_t lead(Team *team) {
  enum { LOST = 20000 }; /* nanoseconds */
  const Phases *phases = team->phases;
  int64_t phase = 0, waited = 0, shares = 0; /* of followers */
  while (phase < phases->count && waited < LOST && !is_stopped(phases, phase)) {
    int members = 1 + atomic_load_explicit(&team->followers, memory_order_relaxed);
    if (members > 1) atomic_store_explicit(&team->begun, MOST * (1 + phase) + members, memory_order_release);
    phases->run(phases->arg, phase++, 0, members);
    shares += members - 1;
    if (members > 1) waited = await(&team->completed, -1, shares);
  }
  atomic_store_explicit(&team->begun, ENDED, memory_order_release);
  if (waited >= LOST && team->parallel->lost) team->parallel->lost(team->parallel->pool, phases->count);
  return phase;
}

/* The leader may begin a phase before it knows of the follower, which then waits for the next one. */
static void follow(Team *team) {
  const Phases *phases = team->phases;
  int member = 1 + atomic_fetch_add_explicit(&team->followers, 1, memory_order_relaxed);
  for (int64_t begun = 0; begun != ENDED;) {
    await(&team->begun, begun, ENDED);
    begun = atomic_load_explicit(&team->begun, memory_order_acquire);
    int members = (int)(begun % MOST);
    if (member >= members) continue;
    phases->run(phases->arg, begun / MOST - 1, member, members);
    atomic_fetch_add_explicit(&team->completed, 1, memory_order_release);
  }
}

static void join(void *arg, int64_t begin, int64_t end) {
  Team *team = arg;
  (void)end;
  if (begin > 0) follow(arg);
  else run_alone(team->phases, lead(team));
}

/* Phases of less work are not worth a meeting: of threads on near cores, and on others. */
enum { LEAST_WORK = PARALLEL_WORK / PARALLEL_NEAR, LEAST_FAR_WORK = PARALLEL_WORK };

static bool is_worth_sharing(const Parallel *parallel, int64_t count, double work) {
  if (parallel_threads(parallel) == 1 || work < LEAST_WORK) return false;
  return work >= LEAST_FAR_WORK || !parallel->can_meet || parallel->can_meet(parallel->pool, count);
}

static void run_shared(const Parallel *parallel, const Phases *phases, double work) {
  Team team = {.phases = phases, .parallel = parallel};
  bool is_long = phases->count >= parallel_wake_grain(work);
  parallel_split(parallel, parallel_threads(parallel), 1, is_long ? PARALLEL_LONG : PARALLEL_BRIEF, join,
                 &team);
}

#endif

void team_run(const Parallel *parallel, int64_t count, double work, TeamPhase *run, void *arg) {
  enum { STOP_WORK = 128 * PARALLEL_WORK, PHASE_WORK = 512 }; /* what it takes to begin a phase */
  const Phases phases = {count, parallel_indices(work + PHASE_WORK, STOP_WORK), run, arg};
#if SYNC_HAS_THREADS
#ifdef TFCORE_SPLIT_ALL_LOOPS
  work = LEAST_FAR_WORK;
#endif
  if (is_worth_sharing(parallel, count, work)) {
    run_shared(parallel, &phases, work);
    return;
  }
#else
  (void)parallel;
#endif
  run_alone(&phases, 0);
}
