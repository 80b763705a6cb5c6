/* Random programs on reference variables, as graphs: changes of a variable wait for everything before them,
 * and everything else waits for the last change. Sessions with and without optimising must give the results
 * of the same program in C. There, as in TensorFlow, what Identity reads from a variable changes with it.
 *
 *   TFCORE_FUZZ_SEED=7 TFCORE_FUZZ_ROUNDS=2000 test_c_api --filter random_programs
 */
#include "c_api_fixture.h"
#include "random_values.h"

enum {
  VARIABLES = 3,
  STATEMENTS = 24,
  MOST_VALUES = STATEMENTS + VARIABLES,
  STEPS = 3,
  DEFAULT_PROGRAMS = 150
};

typedef enum Kind {
  READ,
  ASSIGN,
  ASSIGN_ADD,
  ASSIGN_SUB,
  ADD,
  MUL,
  SUB,
  ADD_VARIABLE,
  COUNT,
  NUM_KINDS
} Kind;

static const char *const kOps[NUM_KINDS] = {"Identity", "Assign", "AssignAdd", "AssignSub", "Add",
                                            "Mul",      "Sub",    "Add",       "CountUpTo"};

typedef struct Statement {
  Kind kind;
  int variable, a, b; /* a and b are numbers of values */
} Statement;

typedef struct Program {
  Random random;
  Fixture f;
  Statement statements[STATEMENTS];
  TF_Output variables[VARIABLES], values[MOST_VALUES];
  int num_values;                       /* the first ones are constants: the numbers from 1 on */
  TF_Operation *init[VARIABLES], *last; /* change */
  TF_Operation *others[STATEMENTS];     /* since then */
  int num_others;
} Program;

static uint32_t fuzz_setting(const char *name, uint32_t otherwise) {
  const char *text = getenv(name);
  return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static TF_Output number(Program *p, const char *name, int32_t value) {
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT32, NULL, 0, sizeof value);
  memcpy(TF_TensorData(tensor), &value, sizeof value);
  TF_OperationDescription *desc = TF_NewOperation(p->f.graph, "Const", name);
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_SetAttrTensor(desc, "value", tensor, p->f.status);
  TF_DeleteTensor(tensor);
  return finish(&p->f, desc);
}

static void make_variables(Program *p) {
  char name[32];
  for (int i = 0; i < VARIABLES; i++) {
    snprintf(name, sizeof name, "v%d", i);
    TF_OperationDescription *desc = TF_NewOperation(p->f.graph, "VariableV2", name);
    TF_SetAttrType(desc, "dtype", TF_INT32);
    TF_SetAttrShape(desc, "shape", NULL, 0);
    p->variables[i] = finish(&p->f, desc);
    snprintf(name, sizeof name, "c%d", i);
    p->values[p->num_values++] = number(p, name, i + 1);
    snprintf(name, sizeof name, "init%d", i);
    p->init[i] = binary(&p->f, "Assign", name, p->variables[i], p->values[i]).oper;
  }
}

static bool changes_variable(Kind kind) {
  return kind == ASSIGN || kind == ASSIGN_ADD || kind == ASSIGN_SUB || kind == COUNT;
}
static bool has_variable(Kind kind) { return kind < ADD || kind > SUB; }
static bool gives_value(Kind kind) { return kind == READ || kind >= ADD; }

static void add_statement(Program *p, int i) {
  Random *random = &p->random;
  Statement *s = &p->statements[i];
  *s = (Statement){(Kind)random_below(random, NUM_KINDS), random_below(random, VARIABLES),
                   random_below(random, p->num_values), random_below(random, p->num_values)};
  char name[32];
  snprintf(name, sizeof name, "s%d", i);
  TF_OperationDescription *desc = TF_NewOperation(p->f.graph, kOps[s->kind], name);
  TF_AddInput(desc, has_variable(s->kind) ? p->variables[s->variable] : p->values[s->b]);
  if (s->kind != READ && s->kind != COUNT) TF_AddInput(desc, p->values[s->a]);
  if (s->kind == COUNT) TF_SetAttrInt(desc, "limit", INT64_MAX);
  bool changes = changes_variable(s->kind);
  if (p->last) TF_AddControlInput(desc, p->last);
  for (int k = 0; k < p->num_others && changes; k++) TF_AddControlInput(desc, p->others[k]);
  TF_Output made = finish(&p->f, desc);
  if (changes) {
    p->last = made.oper;
    p->num_others = 0;
  } else {
    p->others[p->num_others++] = made.oper;
  }
  if (gives_value(s->kind)) p->values[p->num_values++] = made;
}

/* The same in C. Sums and products wrap around. values[i] becomes where value i is: `own`, or a variable. */
static void interpret(const Program *p, uint32_t *variables, uint32_t *own, uint32_t **values) {
  int count = VARIABLES;
  for (int i = 0; i < MOST_VALUES; i++) values[i] = &own[i];
  for (int i = 0; i < VARIABLES; i++) own[i] = (uint32_t)i + 1;
  for (int i = 0; i < STATEMENTS; i++) {
    const Statement *s = &p->statements[i];
    uint32_t *v = &variables[s->variable], a = *values[s->a], b = *values[s->b];
    switch (s->kind) {
      case READ: values[count++] = v; break;
      case ASSIGN: *v = a; break;
      case ASSIGN_ADD: *v += a; break;
      case ASSIGN_SUB: *v -= a; break;
      case ADD: own[count++] = b + a; break;
      case MUL: own[count++] = b * a; break;
      case SUB: own[count++] = b - a; break;
      case ADD_VARIABLE: own[count++] = *v + a; break;
      default: own[count++] = (*v)++; break;
    }
  }
}

static void check_number(const TF_Tensor *tensor, uint32_t want) {
  if (!CHECK(tensor)) return;
  uint32_t got;
  memcpy(&got, TF_TensorData(tensor), sizeof got);
  CHECK_INT_EQ(got, want);
}

/* Steps that fetch some of the values, each after the last statement; then the variables. */
static void run_steps(Program *p, Random random, bool optimize) {
  TF_SessionOptions *options = TF_NewSessionOptions();
  /* ConfigProto { graph_options { optimizer_options { opt_level: L0 } } } */
  static const uint8_t kAsWritten[] = {0x52, 13,  0x1a, 11,  0x18, 255, 255, 255,
                                       255,  255, 255,  255, 255,  255, 1};
  if (!optimize) TF_SetConfig(options, kAsWritten, sizeof kAsWritten, p->f.status);
  CHECK_TF_OK(p->f.status);
  TF_Session *session = TF_NewSession(p->f.graph, options, p->f.status);
  TF_DeleteSessionOptions(options);
  if (!CHECK_TF_OK(p->f.status)) return;
  uint32_t variables[VARIABLES] = {1, 2, 3}, own[MOST_VALUES], *values[MOST_VALUES];
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, (const TF_Operation *const *)p->init, VARIABLES,
                NULL, p->f.status);
  for (int step = 0; step < STEPS && CHECK_TF_OK(p->f.status); step++) {
    TF_Output fetches[MOST_VALUES];
    TF_Tensor *fetched[MOST_VALUES] = {NULL};
    int numbers[MOST_VALUES], count = 0;
    for (int i = 0; i < p->num_values; i++) {
      if (!one_in(&random, 3)) continue;
      numbers[count] = i;
      fetches[count++] = p->values[i];
    }
    const TF_Operation *last = p->last ? p->last : p->init[0];
    if (!p->last) variables[0] = 1;
    interpret(p, variables, own, values);
    TF_SessionRun(session, NULL, NULL, NULL, 0, fetches, fetched, count, &last, 1, NULL, p->f.status);
    for (int i = 0; i < count && TF_GetCode(p->f.status) == TF_OK; i++)
      check_number(fetched[i], *values[numbers[i]]);
    for (int i = 0; i < count; i++) TF_DeleteTensor(fetched[i]);
  }
  TF_Tensor *now[VARIABLES] = {NULL};
  TF_SessionRun(session, NULL, NULL, NULL, 0, p->variables, now, VARIABLES, NULL, 0, NULL, p->f.status);
  CHECK_TF_OK(p->f.status);
  for (int i = 0; i < VARIABLES; i++) check_number(now[i], variables[i]);
  for (int i = 0; i < VARIABLES; i++) TF_DeleteTensor(now[i]);
  TF_DeleteSession(session, p->f.status);
}

TEST(random_programs_on_references_give_what_they_say) {
  uint32_t seed = fuzz_setting("TFCORE_FUZZ_SEED", 1),
           rounds = fuzz_setting("TFCORE_FUZZ_ROUNDS", DEFAULT_PROGRAMS);
  for (uint32_t round = 0; round < rounds; round++) {
    CHECK_CONTEXT("TFCORE_FUZZ_SEED=%u round %u", seed, round);
    Program p = {.random = {((uint64_t)round << 32) ^ seed}};
    REQUIRE(begin(&p.f));
    make_variables(&p);
    for (int i = 0; i < STATEMENTS; i++) add_statement(&p, i);
    run_steps(&p, p.random, true);
    run_steps(&p, p.random, false);
    end(&p.f);
  }
  CHECK_CONTEXT("%s", "");
}
