#include "shortage.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const int64_t PLENTY = INT64_MAX / 2;

bool shortage_is_thorough(void) {
  const char *wanted = getenv("TFCORE_FAULTS");
  return wanted && strcmp(wanted, "all") == 0;
}

int64_t shortage_stride(int64_t n) { return shortage_is_thorough() ? 1 : 1 + n / 20; }

/* The first round shows the state that persists after the first call, the second counts requests. */
static bool has_plenty(const Shortage *s) { return s->plenty < 2; }

bool shortage_is_on(const Shortage *s) { return !has_plenty(s); }

static void name_round(const Shortage *s) {
  if (has_plenty(s)) CHECK_CONTEXT("%s, with enough memory", s->what);
  else CHECK_CONTEXT("%s, %s after %d", s->what, s->once ? "one fails" : "all fail", (int)s->n);
}

void shortage_begin(Shortage *s) {
  s->begun = true;
  name_round(s);
  if (has_plenty(s)) mem_fail_after(PLENTY);
  else if (s->once) mem_fail_once(s->n);
  else mem_fail_after(s->n);
}

void shortage_end(Shortage *s, bool ok, Code code) {
  int64_t left = mem_successes_left();
  mem_fail_after(-1);
  if (!CHECK(s->begun) || !CHECK(!has_plenty(s) || left >= 0)) return;
  s->begun = false;
  if (ok) code = CODE_OK;
  if (has_plenty(s)) {
    s->count = PLENTY - left;
    s->code = code;
  } else if (code != s->code) {
    s->failures++;
    CHECK_INT_EQ(code, CODE_RESOURCE_EXHAUSTED);
  }
}

static int64_t step(Shortage *s) {
  int64_t most = s->most > 0 ? s->most : SHORTAGE_MOST;
  if (!s->once) most = 1 + most / 4; /* the first failure is that of the other kind of round */
  int64_t first = most / 4;
  if (s->count <= most || s->n < first || shortage_is_thorough()) return 1;
  return random_to(&s->seed, (int)(2 * (s->count - first) / (most - first)));
}

static bool finish(Shortage *s) {
  CHECK_CONTEXT("%s", s->what);
  CHECK(s->failures > 0 || s->count == 0 || s->code != CODE_OK);
  CHECK_CONTEXT("%s", "");
  return false;
}

bool shortage_next(Shortage *s) {
  if (has_plenty(s)) {
    s->plenty++;
    s->once = true;
    s->live = mem_live_bytes();
    return has_plenty(s) || s->count > 0 || finish(s);
  }
  name_round(s);
  if (!CHECK_INT_EQ(mem_live_bytes(), s->live)) return finish(s);
  s->n += step(s);
  if (s->n >= s->count && s->once) {
    s->once = false;
    s->n = 0;
  }
  return s->n < s->count || finish(s);
}
