/* Runs the gradient cases of all test files, and holds the registry to having them. */
#include "gradient_cases.h"

#include <string.h>

#include "base/alloc.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op/op_registry.h"

GradientCaseList *gradient_case_lists;

TEST(gradient_cases_hold) {
  for (const GradientCaseList *list = gradient_case_lists; list != NULL; list = list->next) {
    for (int i = 0; i < list->count; i++) {
      GradientCase *c = &list->cases[i];
      CHECK_CONTEXT("%s of %s", (*c)[CASE_OP], (*c)[CASE_INPUTS]);
      if ((*c)[CASE_ONCE] == NULL) {
        gradient_holds_twice((*c)[CASE_OP], (*c)[CASE_INPUTS]);
      } else {
        gradient_holds((*c)[CASE_OP], (*c)[CASE_INPUTS]);
      }
    }
  }
  CHECK_CONTEXT("%s", "");
}
