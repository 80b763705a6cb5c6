/* Gradient texts for ops whose indices may be narrower than those of the ops that the text is made of.
 *
 * In a text "@" stands for the type of indices and "#" for the argument that they are: $Tindices and the
 * argument itself, or int64 and a Cast of it where Tindices is neither int32 nor int64. */
#ifndef TFCORE_OPS_SUPPORT_INDEX_TEXT_H_
#define TFCORE_OPS_SUPPORT_INDEX_TEXT_H_

#include "op/op_registry.h"

/* Appends the text for the node's Tindices, in which the argument is called `indices`. The first line must be
 * the head, which is not marked. */
MUST_CHECK bool index_text(const GradientRequest *request, const char *indices, const char *text, StrBuf *out,
                           Status *status);

#endif
