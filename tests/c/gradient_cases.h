/* The cases on which the gradients of ops are checked: first and second derivatives against central
 * differences (gradient_checker.h).
 *
 *   GRADIENT_CASES(segment,
 *     {"SegmentSum[T=double]", "double[4] 1 2 3 4; int32[4] 0 0 1 2"},
 *     {"SegmentMax[T=double]", "double[2] 1 2; int32[2] 0 0", "Why there is no second derivative here."})
 *
 * is written once in a test file: ops/gradient_cases_test.c runs the cases of all files. Its coverage test
 * fails for an op with a gradient but without three cases of different shapes, each with a second derivative
 * or a reason. Ops that broadcast need a case of two shapes, and ops with kernels for complex128 one of
 * complex numbers. Points must be away from kinks, which are for gradient_is.
 */
#ifndef TFCORE_TESTS_GRADIENT_CASES_H_
#define TFCORE_TESTS_GRADIENT_CASES_H_

/* Op and inputs as in op_runner.h, with floating inputs in double and complex128 (they are run in single
 * precision as well; float inputs are for ops without double); and, for a case without checked second
 * derivative, the reason. Several ops may share a case: "Add|Sub|Mul[T=double]". */
typedef const char *const GradientCase[3];
enum { CASE_OP, CASE_INPUTS, CASE_ONCE };

typedef struct GradientCaseList {
  GradientCase *cases;
  int count;
  struct GradientCaseList *next;
} GradientCaseList;

/* All lists of the program. */
extern GradientCaseList *gradient_case_lists;

#define GRADIENT_CASES(name, ...)                                                                        \
  static GradientCase name##_cases[] = {__VA_ARGS__};                                                    \
  static GradientCaseList name##_list = {name##_cases, sizeof name##_cases / sizeof name##_cases[0], 0}; \
  __attribute__((constructor)) static void add_##name##_cases(void) {                                    \
    name##_list.next = gradient_case_lists;                                                              \
    gradient_case_lists = &name##_list;                                                                  \
  }

#endif
