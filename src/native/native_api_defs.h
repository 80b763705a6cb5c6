/* ApiDefs: what programs that write client libraries ask for the names, the order of arguments and the texts
 * of an op.
 *
 *   ApiDef *def = api_def_of_op(op_def, arena);
 *   api_def_merge(def, changes, arena, &status);
 *   api_def_rename_in_texts(def, arena, &status);
 */
#ifndef TFCORE_NATIVE_NATIVE_API_DEFS_H_
#define TFCORE_NATIVE_NATIVE_API_DEFS_H_

#include "proto/api_def_protos.h"

/* The names and texts of the op itself. Shares texts and default values with `op_def`. NULL when out of
 * memory. */
ApiDef *api_def_of_op(const OpDef *op_def, Arena *arena);
/* Puts the fields that are set in `changes` into `def`, which shares them. FAILED_PRECONDITION when they name
 * arguments or attrs that the op does not have; the fields before that one are changed. */
MUST_CHECK bool api_def_merge(ApiDef *def, const ApiDef *changes, Arena *arena, Status *status);
/* Replaces `name` by the new name in all descriptions, for the op and its arguments and attrs. */
MUST_CHECK bool api_def_rename_in_texts(ApiDef *def, Arena *arena, Status *status);
/* Appends protobuf's text format for a text that may have fields over several lines:
 *   summary: <<END
 *   the lines
 *   END */
void api_def_plain_text(Str text, StrBuf *out);

#endif
