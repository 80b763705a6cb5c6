/* Gradient texts for ops that allow narrower indices than the ops used in the text.
 *
 * In a text "@" stands for the type of indices and "#" for the indices argument: $Tindices and the argument
 * itself, or, if Tindices is neither int32 nor int64, int64 and a Cast of the argument.
 */
#ifndef TFCORE_OPS_SUPPORT_INDEX_TEXT_H_
#define TFCORE_OPS_SUPPORT_INDEX_TEXT_H_

#include "op/op_registry.h"

/* Appends the text for the node's Tindices; `indices` is the argument's name. The first line must be the
 * head, which has no marks. */
MUST_CHECK bool index_text(const GradientRequest *request, const char *indices, const char *text, StrBuf *out,
                           Status *status);

#endif
