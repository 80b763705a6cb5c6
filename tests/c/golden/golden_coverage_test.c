/* The coverage of the golden cases: every op in tests/data/op_tiers.txt has twelve cases; each of its dtypes
 * has one, except for those in tests/data/golden_exceptions.txt; and all of them together are small. With
 * TFCORE_GOLDEN_TABLE set in the environment the table is printed.
 *
 *   TFCORE_GOLDEN_TABLE=1 test_golden --filter golden_cases_cover_the_ops
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_file.h"
#include "harness.h"
#include "op/op_registry.h"
#include "tensor/dtype.h"
#include "tensorflow/c/c_api.h"

enum { MOST_OPS = 256, MOST_FILES = 256, LEAST_CASES = 12, MOST_BYTES = 16 * 1000 * 1000 };

typedef struct Row {
  char op[64];
  int tier;
  char attr[32];             /* the attr of the element type; "" if the op has none */
  uint64_t wanted, excepted; /* a bit for each dtype: required ones, and exceptions among them */
  uint64_t covered;          /* by a case for the op in which some step succeeds */
  int cases;                 /* the op's cases, whose names begin with its name */
  int failures;              /* those of them that end in an error */
  int graphs;                /* other cases with the op in their graphs */
  bool in_case;
} Row;

typedef struct Table {
  Row rows[MOST_OPS];
  int count;
} Table;

/* The bits of the dtypes in `words`; 0 if one of them is not a dtype. */
static uint64_t parse_dtypes(char *words) {
  uint64_t bits = 0;
  char *rest = NULL;
  for (const char *word = strtok_r(words, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
    int dtype = dtype_from_name(str_of(word));
    if (dtype == DT_INVALID) return harness_fail(__FILE__, __LINE__, "%s is no dtype", word);
    bits |= UINT64_C(1) << dtype;
  }
  return bits;
}

static bool read_ops(Table *table) {
  FILE *file = fopen("tests/data/op_tiers.txt", "rb");
  if (!CHECK(file)) return false;
  char line[4096];
  while (table->count < MOST_OPS && fgets(line, sizeof line, file)) {
    Row *row = &table->rows[table->count];
    int end = 0;
    if (line[0] == '#' || sscanf(line, "%d %63s%n %31s%n", &row->tier, row->op, &end, row->attr, &end) < 2)
      continue;
    row->wanted = parse_dtypes(line + end);
    table->count++;
  }
  fclose(file);
  return CHECK(table->count > 0);
}

static Row *find_row(Table *table, const char *op) {
  for (int i = 0; i < table->count; i++) {
    if (strcmp(table->rows[i].op, op) == 0) return &table->rows[i];
  }
  return NULL;
}

/* A line "Op Op | dtype dtype | reason": each of the dtypes for each of the ops. */
static void read_exception(Table *table, char *line) {
  char *fields = NULL, *words = NULL;
  char *ops = strtok_r(line, "|", &fields), *dtypes = strtok_r(NULL, "|", &fields);
  const char *reason = strtok_r(NULL, "|\n", &fields);
  if (!CHECK(reason && strlen(reason) > 1)) return;
  uint64_t bits = parse_dtypes(dtypes);
  CHECK(bits != 0);
  for (const char *op = strtok_r(ops, " ", &words); op; op = strtok_r(NULL, " ", &words)) {
    Row *row = find_row(table, op);
    CHECK_CONTEXT("%s", op);
    if (!CHECK(row)) continue;
    CHECK((bits & ~row->wanted) == 0);
    CHECK((bits & row->excepted) == 0);
    row->excepted |= bits;
  }
  CHECK_CONTEXT("%s", "");
}

static bool read_exceptions(Table *table) {
  FILE *file = fopen("tests/data/golden_exceptions.txt", "rb");
  if (!CHECK(file)) return false;
  char line[4096];
  while (fgets(line, sizeof line, file)) {
    if (line[0] != '#') read_exception(table, line);
  }
  fclose(file);
  return true;
}

static size_t count_failures(const Tfcore__GoldenCase *golden) {
  size_t failures = 0;
  for (size_t i = 0; i < golden->n_steps; i++) failures += golden->steps[i]->code != 0;
  return failures;
}

/* The value of a type attr, with its default if the node lacks it. */
static int type_attr(const NodeDef *node, const char *attr) {
  const AttrValue *value = node_def_attr(node, attr);
  if (value) return (int)value->type;
  const Op *op = op_registry_find(op_registry_global(), node->op);
  for (size_t i = 0; op && i < op->def->n_attr; i++) {
    const AttrDef *def = op->def->attr[i];
    if (strcmp(def->name, attr) == 0 && def->default_value) return (int)def->default_value->type;
  }
  return DT_INVALID;
}

static uint64_t dtypes_of(const Tfcore__GoldenCase *golden, const Row *row) {
  uint64_t bits = 0;
  for (size_t i = 0; i < golden->graph->n_node; i++) {
    const NodeDef *node = golden->graph->node[i];
    if (strcmp(node->op, row->op) == 0) bits |= UINT64_C(1) << dtype_base(type_attr(node, row->attr));
  }
  return bits;
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
      size_t failures = count_failures(golden);
      row->cases++;
      row->failures += failures > 0;
      if (failures < golden->n_steps && row->attr[0] != '\0') row->covered |= dtypes_of(golden, row);
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

static void check_dtypes(const Row *row) {
  for (int dtype = 1; dtype < NUM_DTYPES; dtype++) {
    uint64_t bit = UINT64_C(1) << dtype;
    if ((row->wanted & bit) == 0) continue;
    if ((row->excepted & row->covered & bit) != 0) {
      harness_fail(__FILE__, __LINE__, "%s of %s is an exception and has a golden case", row->op,
                   dtype_name(dtype));
    } else if (((row->excepted | row->covered) & bit) == 0) {
      harness_fail(__FILE__, __LINE__, "no golden case is about %s of %s", row->op, dtype_name(dtype));
    }
  }
}

TEST(golden_cases_cover_the_ops) {
  static Table table;
  static char names[MOST_FILES][GOLDEN_NAME_CAPACITY];
  memset(&table, 0, sizeof table);
  TF_DeleteGraph(TF_NewGraph()); /* registers the ops */
  if (!read_ops(&table) || !read_exceptions(&table)) return;
  int64_t bytes = 0;
  int files = golden_file_names(MOST_FILES, names);
  for (int i = 0; i < files; i++) {
    Tfcore__GoldenFile *file = golden_file_read(names[i], &bytes);
    for (size_t k = 0; file && k < file->n_cases; k++) count_case(&table, file->cases[k]);
    if (file) tfcore__golden_file__free_unpacked(file, NULL);
  }
  for (int i = 0; i < table.count; i++) {
    const Row *row = &table.rows[i];
    if (row->cases < LEAST_CASES)
      harness_fail(__FILE__, __LINE__, "%s has %d golden cases", row->op, row->cases);
    check_dtypes(row);
  }
  if (getenv("TFCORE_GOLDEN_TABLE")) print_table(&table);
  CHECK(bytes <= MOST_BYTES);
}
