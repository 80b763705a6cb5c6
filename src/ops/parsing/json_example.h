/* Examples as JSON, by the mapping of protocol buffers:
 *
 *   {"features": {"feature": {"age": {"int64List": {"value": ["41"]}}, "name": {"bytesList": {"value":
 * ["aGk="]}}}}}
 */
#ifndef TFCORE_OPS_PARSING_JSON_EXAMPLE_H_
#define TFCORE_OPS_PARSING_JSON_EXAMPLE_H_

#include "base/str.h"

/* Appends the serialized Example; the features have the order of the text. Like protocol buffers it takes
 * names with underscores, quotes of both kinds, words without quotes, and a comma at the end of a list.
 * INVALID_ARGUMENT "Error while parsing JSON: ... at byte N". */
MUST_CHECK bool json_example_read(Str json, StrBuf *bytes, Status *status);

#endif
