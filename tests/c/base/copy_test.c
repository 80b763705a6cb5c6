#include "base/copy.h"

#include "harness.h"

enum { SPACE = 4096, GUARD = 170 };

static void fill(uint8_t *bytes, int salt) {
  for (int i = 0; i < SPACE; i++) bytes[i] = (uint8_t)((uint32_t)(i + salt) * 2654435761u >> 21);
}

TEST(copies_of_every_length_touch_nothing_else) {
  static uint8_t x[SPACE], y[SPACE], want[SPACE];
  fill(x, 1);
  for (int bytes = 0; bytes <= COPY_SHORT + 40; bytes++) {
    int from = bytes % 7, to = 100 + bytes % 5;
    CHECK_CONTEXT("%d bytes", bytes);
    memset(y, GUARD, sizeof y);
    for (int i = 0; i < SPACE; i++) want[i] = i >= to && i < to + bytes ? x[from + i - to] : GUARD;
    copy_bytes(y + to, x + from, bytes);
    CHECK_MEM_EQ(y, want, sizeof y);
  }
  CHECK_CONTEXT("%s", "");
}

/* Rows with gaps on one side, both or neither, repeated rows, and rows in the opposite order. */
TEST(copies_of_rows_of_every_length_touch_nothing_else) {
  static uint8_t x[SPACE], y[SPACE], want[SPACE];
  enum { ROWS = 5 };
  fill(x, 2);
  for (int bytes = 1; bytes <= COPY_SHORT + 40; bytes++) {
    int steps[] = {bytes, bytes + 3, -bytes, -bytes - 1, 0};
    for (int f = 0; f < 5; f++) {
      for (int t = 0; t < 4; t++) {
        int from = steps[f] < 0 ? -steps[f] * (ROWS - 1) : 1, to = steps[t] < 0 ? -steps[t] * (ROWS - 1) : 9;
        CHECK_CONTEXT("%d bytes, steps %d and %d", bytes, steps[f], steps[t]);
        memset(y, GUARD, sizeof y), memset(want, GUARD, sizeof want);
        for (int i = 0; i < ROWS * bytes; i++)
          want[to + i / bytes * steps[t] + i % bytes] = x[from + i / bytes * steps[f] + i % bytes];
        copy_rows(y + to, steps[t], x + from, steps[f], bytes, ROWS);
        CHECK_MEM_EQ(y, want, sizeof y);
        copy_rows(y + to, steps[t], x, steps[f], bytes, 0);
        CHECK_MEM_EQ(y, want, sizeof y);
      }
    }
  }
  CHECK_CONTEXT("%s", "");
}
