/* Deadlines of steps, set by RunOptions and ConfigProto. */
#include "c_api/endless_loop.h"

/* RunOptions { timeout_in_ms: 20 } and ConfigProto { operation_timeout_in_ms: 20 }. */
static const TF_Buffer kTimeout = {"\x10\x14", 2, NULL};
static const char kConfig[] = "\x58\x14";

TEST(deadlines_of_run_options_and_of_the_session_end_a_loop) {
  Fixture f;
  REQUIRE(begin(&f) && add_endless_function(&f));
  TF_Output x = placeholder_of(&f, "x", TF_BOOL, 0, NULL), y = endless_loop(&f, x);
  for (int by_session = 0; by_session < 2; by_session++) {
    TF_SessionOptions *options = TF_NewSessionOptions();
    if (by_session) TF_SetConfig(options, kConfig, sizeof kConfig - 1, f.status);
    TF_Session *session = TF_NewSession(f.graph, options, f.status);
    TF_DeleteSessionOptions(options);
    for (int go_on = 1; go_on >= 0; go_on--) {
      TF_Tensor *value = tensor_of(TF_BOOL, 0, NULL, &(unsigned char){(unsigned char)go_on}, 1),
                *result = NULL;
      TF_SessionRun(session, by_session ? NULL : &kTimeout, &x, &value, 1, &y, &result, 1, NULL, 0, NULL,
                    f.status);
      if (go_on) {
        CHECK_TF_ERROR(f.status, TF_DEADLINE_EXCEEDED, "Timed out waiting for notification");
        CHECK(!result);
      } else {
        CHECK_TF_OK(f.status);
      }
      TF_DeleteTensor(result);
      TF_DeleteTensor(value);
    }
    TF_DeleteSession(session, f.status);
  }
  end(&f);
}
