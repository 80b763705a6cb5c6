/* Replays what TensorFlow answered about convolutions, pooling and LRN: tests/data/oracle/window_ops.txt, written by
 * tests/oracle/window_ops.py. A case is three lines: op, inputs, output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "op_runner.h"

enum { LINE_CAPACITY = 8192 };

static bool read_line(FILE *file, char *line) {
  if (fgets(line, LINE_CAPACITY, file) == NULL) return false;
  line[strcspn(line, "\n")] = 0;
  return true;
}

TEST(windows_as_tensorflow_computes_them) {
  FILE *file = fopen(TFCORE_SOURCE_DIR "/tests/data/oracle/window_ops.txt", "rb");
  char *lines = malloc(3 * LINE_CAPACITY), *op = lines, *inputs = lines + LINE_CAPACITY, *output = inputs + LINE_CAPACITY;
  int cases = 0;
  if (CHECK(file != NULL) && CHECK(lines != NULL)) {
    while (read_line(file, op) && CHECK(read_line(file, inputs) && read_line(file, output))) {
      op_gives_about(op, inputs, output, 1e-5);
      cases++;
    }
  }
  CHECK_INT_EQ(cases, 31);
  if (file != NULL) fclose(file);
  free(lines);
}
