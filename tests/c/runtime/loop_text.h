/* Loops as text (runtime/control_flow_text.h): a variable `a` is the Enter ae, the Merge am, the Switch as on
 * the LoopCond c, and the NextIteration an of `next`; a value that is the same in all rounds is the Enter ae.
 */
#ifndef TFCORE_TESTS_RUNTIME_LOOP_TEXT_H_
#define TFCORE_TESTS_RUNTIME_LOOP_TEXT_H_

#include "runtime/control_flow_text.h"

/* clang-format off */
#define VARIABLE(name, type, value, next)                        \
  name "e Enter " value " ; T=" type " frame_name='loop'\n"      \
  name "m Merge " name "e " name "n ; T=" type " N=2\n"          \
  name "s Switch " name "m c ; T=" type "\n"                     \
  name "n NextIteration " next " ; T=" type "\n"
#define CONSTANT(name, type, value) \
  name "e Enter " value " ; T=" type " frame_name='loop' is_constant=true\n"
/* clang-format on */

#endif
