/* Einsum: what golden cases leave out, and derivatives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"
#include "runtime/thread_pool.h"

#define EINSUM(n, equation) "Einsum[T=double, N=" #n ", equation=" equation "]"
#define TWO "double[2,3] 1 2 3 4 5 6"

TEST(equations_are_refused_in_tensorflows_words) {
  static const struct {
    const char *op, *message;
  } kBad[] = {
      {EINSUM(1, "ij"), "Expecting exactly one '->' in einsum equation: ij"},
      {EINSUM(1, "ij->i->j"), "Expecting exactly one '->' in einsum equation: ij->i->j"},
      {EINSUM(1, "ij.->i"),
       "Expected at most one ellipsis (...), but found 1 periods (.) in the input subscript: ij."},
      {EINSUM(1, "i...j...->i"),
       "Expected at most one ellipsis (...), but found 6 periods (.) in the input subscript: i...j..."},
      {EINSUM(1, "ij->k"),
       "Einsum output subscripts for equation 'ij->k' has label 'k' which is not present in the input "
       "subscripts"},
  };
  for (size_t i = 0; i < sizeof kBad / sizeof kBad[0]; i++)
    op_fails(kBad[i].op, TWO, CODE_INVALID_ARGUMENT, kBad[i].message);
}

TEST(any_character_is_a_label) {
  op_gives(EINSUM(1, "1$->$1"), TWO, "double[3,2] 1 4 2 5 3 6");
  op_gives(EINSUM(1, "Ii->i"), TWO, "double[3] 5 7 9");
}

/* 2^62 * 4 exceeds int64. */
TEST(sizes_whose_product_overflows_beside_a_size_of_0_are_summed) {
  op_gives(EINSUM(1, "abc->"), "double[0,4611686018427387904,4]", "double[] 0");
}

/* --- random equations against direct sums --- */

enum { KINDS = 6, MOST_LABELS = 2 * KINDS, SIZES = 5 };

/* Labels 'a', 'b', ... of an equation of two inputs: bit 0 and 1 of a kind tell which inputs have them, bit 2
 * whether the output does. */
typedef struct RandomSum {
  unsigned seed;
  int count;
  int kinds[MOST_LABELS];
  int64_t sizes[MOST_LABELS];
  char terms[3][MOST_LABELS + 1];
} RandomSum;

static int draw(RandomSum *sum, int below) { return random_to(&sum->seed, below) - 1; }

/* The labels of a term, in random order. */
static void draw_term(RandomSum *sum, int term) {
  char *text = sum->terms[term];
  int length = 0;
  for (int i = 0; i < sum->count; i++) {
    if (!(sum->kinds[i] >> term & 1)) continue;
    int at = draw(sum, ++length);
    text[length - 1] = text[at];
    text[at] = (char)('a' + i);
  }
  text[length] = '\0';
}

static void draw_sum(RandomSum *sum) {
  static const int kKinds[KINDS] = {7, 3, 5, 6, 1, 2}; /* batch, contracted, free, free, summed, summed */
  static const int64_t kSizes[SIZES] = {1, 2, 3, 4, 9};
  sum->count = 0;
  for (int kind = 0; kind < KINDS; kind++) {
    for (int i = draw(sum, kind < 4 ? 3 : 6) % 3; i > 0; i--) {
      if (kind >= 4 && i > 1) continue;
      sum->kinds[sum->count] = kKinds[kind];
      sum->sizes[sum->count++] = draw(sum, 40) == 0 ? 0 : kSizes[draw(sum, SIZES)];
    }
  }
  for (int term = 0; term < 3; term++) draw_term(sum, term);
}

static int dims_of(const RandomSum *sum, int term, int64_t *dims) {
  int rank = (int)strlen(sum->terms[term]);
  for (int i = 0; i < rank; i++) dims[i] = sum->sizes[sum->terms[term][i] - 'a'];
  return rank;
}

static int64_t place_of(const RandomSum *sum, int term, const int64_t *index) {
  int64_t place = 0;
  for (const char *label = sum->terms[term]; *label; label++)
    place = place * sum->sizes[*label - 'a'] + index[*label - 'a'];
  return place;
}

/* Adds the products up, one place of all labels after the other. */
static void add_up(const RandomSum *sum, const Tensor *x, const Tensor *y, double *totals) {
  int64_t index[MOST_LABELS] = {0};
  for (int i = 0; i < sum->count; i++) {
    if (sum->sizes[i] == 0) return;
  }
  for (int i = 0; i >= 0;) {
    totals[place_of(sum, 2, index)] +=
        tensor_get(x, place_of(sum, 0, index)) * tensor_get(y, place_of(sum, 1, index));
    for (i = sum->count - 1; i >= 0 && ++index[i] == sum->sizes[i]; i--) index[i] = 0;
  }
}

static void check_sum(RandomSum *sum, const char *type, const Parallel *parallel) {
  Status status;
  OpRun run;
  char op[128];
  int64_t dims[MOST_LABELS];
  draw_sum(sum);
  snprintf(op, sizeof op, "Einsum[T=%s, N=2, equation=[%s,%s->%s]]", type, sum->terms[0], sum->terms[1],
           sum->terms[2]);
  CHECK_CONTEXT("%s", op);
  status_init(&status);
  REQUIRE_OK(op_run_begin(&run, op, &status), status);
  run.parallel = parallel;
  DataType dtype = (DataType)dtype_from_name(str_of(type));
  for (int term = 0; term < 2; term++) {
    Tensor *input = op_run_input(&run, dtype, dims_of(sum, term, dims), dims);
    for (int64_t i = 0; i < tensor_num_elements(input); i++) tensor_put(input, i, draw(sum, 5) - 2);
  }
  if (CHECK_OK(op_run_compute(&run, &status), status)) {
    const Tensor *out = &run.outputs[0];
    int64_t count = tensor_num_elements(out);
    CHECK_INT_EQ(out->shape.rank, dims_of(sum, 2, dims));
    double *totals = calloc((size_t)count + 1, sizeof *totals);
    add_up(sum, &run.inputs[0], &run.inputs[1], totals);
    for (int64_t i = 0; i < count && CHECK_NEAR(tensor_get(out, i), totals[i], 0); i++) {
    }
    free(totals);
  }
  op_run_end(&run);
  CHECK_CONTEXT("%s", "");
}

TEST(random_equations) {
  static const char *const kTypes[] = {"float", "double", "int32", "complex64"};
  RandomSum sum = {.seed = 7};
  ThreadPool *pool = thread_pool_new(3);
  REQUIRE(pool);
  for (int i = 0; i < 2000; i++)
    check_sum(&sum, kTypes[i % 4], i % 8 < 4 ? NULL : thread_pool_parallel(pool));
  thread_pool_free(pool);
}

/* Large enough that threads share the products, and divide those that are left. */
TEST(heads_of_attention_on_several_threads) {
  ThreadPool *pool = thread_pool_new(3);
  REQUIRE(pool);
  for (int heads = 1; heads <= 7; heads++) {
    Status status;
    OpRun run;
    CHECK_CONTEXT("%d heads", heads);
    status_init(&status);
    REQUIRE_OK(op_run_begin(&run, "Einsum[T=float, N=2, equation=[bqhd,bkhd->bhqk]]", &status), status);
    run.parallel = thread_pool_parallel(pool);
    enum { ROWS = 130, DEPTH = 64 };
    for (int i = 0; i < 2; i++) {
      Tensor *input = op_run_input(&run, DT_FLOAT, 4, (int64_t[]){1, ROWS, heads, DEPTH});
      for (int64_t k = 0; k < tensor_num_elements(input); k++)
        tensor_put(input, k, (double)((k * (7 + i)) % 5 - 2));
    }
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      const float *q = run.inputs[0].data, *k = run.inputs[1].data, *scores = run.outputs[0].data;
      for (int64_t at = 0; at < (int64_t)heads * ROWS * ROWS; at++) {
        int64_t h = at / (ROWS * ROWS), row = at / ROWS % ROWS, column = at % ROWS;
        double want = 0;
        for (int d = 0; d < DEPTH; d++)
          want += (double)q[(row * heads + h) * DEPTH + d] * (double)k[(column * heads + h) * DEPTH + d];
        if (!CHECK_NEAR((double)scores[at], want, 0)) break;
      }
    }
    op_run_end(&run);
  }
  CHECK_CONTEXT("%s", "");
  thread_pool_free(pool);
}

GRADIENT_CASES(einsum, {EINSUM(1, "ij->i"), "double[2,3] 1.5 -2 0.5 3 1 -1"},
               {EINSUM(1, "iij->ji"), "double[2,2,2] 1.5 -2 0.5 3 1 -1 2 0.25"},
               {EINSUM(1, "...ii->i..."), "double[2,2,2] 1.5 -2 0.5 3 1 -1 2 0.25"},
               {EINSUM(2, "[ij,jk->ki]"), "double[2,2] 1 2 3 4; double[2,1] -1 0.5"},
               {EINSUM(2, "[ij,jk->k]"), "double[2,2] 1 2 3 4; double[2,1] -1 0.5"},
               {EINSUM(2, "[...ij,jk...->...ik]"), "double[2,1,2] 1 2 3 4; double[2,1,2] -1 0.5 2 -3"},
               {"Einsum[T=complex128, N=2, equation=[ij,jk->ki]]",
                "complex128[2,2] 1-2i 2 0+3i 4; complex128[2,1] -1+1i 0.5"})
