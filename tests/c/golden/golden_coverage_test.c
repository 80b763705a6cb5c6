/* How much the golden cases cover: every op that is to be there first (tests/data/op_tiers.txt) has some,
 * twelve on average, and all of them together stay small. With TFCORE_GOLDEN_TABLE set in the environment the
 * table is printed.
 *
 *   TFCORE_GOLDEN_TABLE=1 test_golden --filter golden_cases_cover_the_ops
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_file.h"
#include "harness.h"

enum { MOST_OPS = 256, MOST_FILES = 256, LEAST_AVERAGE = 12, MOST_BYTES = 12 * 1000 * 1000 };

typedef struct Row {
  char op[64];
  int tier;
  int cases;    /* that are about the op: their names begin with its own */
  int failures; /* those of them that end in an error */
  int graphs;   /* other cases with the op in their graphs */
  bool in_case;
} Row;

typedef struct Table {
  Row rows[MOST_OPS];
  int count;
} Table;

static bool read_ops(Table *table) {
  FILE *file = fopen(TFCORE_SOURCE_DIR "/tests/data/op_tiers.txt", "rb");
  if (!CHECK(file != NULL)) return false;
  char line[4096];
  while (table->count < MOST_OPS && fgets(line, sizeof line, file)) {
    Row *row = &table->rows[table->count];
    if (line[0] != '#' && sscanf(line, "%d %63s", &row->tier, row->op) == 2) table->count++;
  }
  fclose(file);
  return CHECK(table->count > 0);
}

static bool fails(const Tfcore__GoldenCase *golden) {
  for (size_t i = 0; i < golden->n_steps; i++) {
    if (golden->steps[i]->code != 0) return true;
  }
  return false;
}

static bool is_about(const Tfcore__GoldenCase *golden, const char *op) {
  size_t length = strlen(op);
  return strncmp(golden->name, op, length) == 0 &&
         (golden->name[length] == ' ' || golden->name[length] == '\0');
}

static void count_case(Table *table, const Tfcore__GoldenCase *golden) {
  for (int i = 0; i < table->count; i++) table->rows[i].in_case = false;
  for (size_t n = 0; n < golden->graph->n_node; n++) {
    const char *op = golden->graph->node[n]->op;
    for (int i = 0; i < table->count; i++) table->rows[i].in_case |= strcmp(table->rows[i].op, op) == 0;
  }
  for (int i = 0; i < table->count; i++) {
    Row *row = &table->rows[i];
    if (!row->in_case) continue;
    if (is_about(golden, row->op)) {
      row->cases++;
      row->failures += fails(golden);
    } else {
      row->graphs++;
    }
  }
}

static void print_table(const Table *table) {
  printf("tier  op                                      cases  errors  other graphs\n");
  for (int i = 0; i < table->count; i++) {
    const Row *row = &table->rows[i];
    printf("%4d  %-38s  %5d  %6d  %12d\n", row->tier, row->op, row->cases, row->failures, row->graphs);
  }
}

TEST(golden_cases_cover_the_ops) {
  static Table table;
  static char names[MOST_FILES][GOLDEN_NAME_CAPACITY];
  memset(&table, 0, sizeof table);
  if (!read_ops(&table)) return;
  int64_t bytes = 0, cases = 0;
  int files = golden_file_names(MOST_FILES, names);
  for (int i = 0; i < files; i++) {
    Tfcore__GoldenFile *file = golden_file_read(names[i], &bytes);
    for (size_t k = 0; file != NULL && k < file->n_cases; k++) count_case(&table, file->cases[k]);
    if (file) tfcore__golden_file__free_unpacked(file, NULL);
  }
  for (int i = 0; i < table.count; i++) {
    const Row *row = &table.rows[i];
    cases += row->cases;
    if (row->cases + row->graphs == 0) harness_fail(__FILE__, __LINE__, "%s is in no golden case", row->op);
  }
  if (getenv("TFCORE_GOLDEN_TABLE")) print_table(&table);
  CHECK(cases >= (int64_t)LEAST_AVERAGE * table.count);
  CHECK(bytes <= MOST_BYTES);
}
