/* A loop that ends only by a deadline, a pause or closing the session. */
#ifndef TFCORE_TESTS_C_API_ENDLESS_LOOP_H_
#define TFCORE_TESTS_C_API_ENDLESS_LOOP_H_

#include "c_api/c_api_fixture.h"

/* The function Same(x) = x. */
static inline bool add_endless_function(Fixture *f) {
  Fixture body;
  bool ok = begin(&body);
  TF_Output x = placeholder_of(&body, "x", TF_BOOL, 0, NULL), y = unary(&body, "Identity", "y", x);
  TF_Function *same =
      TF_GraphToFunction(body.graph, "Same", 0, -1, NULL, 1, &x, 1, &y, NULL, NULL, NULL, body.status);
  ok = ok && CHECK_TF_OK(body.status);
  TF_GraphCopyFunction(f->graph, same, NULL, f->status);
  ok = ok && CHECK_TF_OK(f->status);
  TF_DeleteFunction(same);
  end(&body);
  return ok;
}

/* While(x, Same, Same), which never ends when x is true. */
static inline TF_Output endless_loop(Fixture *f, TF_Output x) {
  TF_OperationDescription *desc = TF_NewOperation(f->graph, "While", "loop");
  TF_AddInputList(desc, &x, 1);
  TF_SetAttrTypeList(desc, "T", (TF_DataType[]){TF_BOOL}, 1);
  TF_SetAttrFuncName(desc, "cond", "Same", 4);
  TF_SetAttrFuncName(desc, "body", "Same", 4);
  return finish(f, desc);
}

#endif
