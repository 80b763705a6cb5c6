/* Small macros that the headers of TensorFlow's C API share. */
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#include <stddef.h>

#include "tensorflow/c/tf_export.h"

/* The C API's boolean (TF_BOOL is the dtype). */
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

/* Where a member of a struct ends: `struct_size` of structs that may grow says up to which member they are
 * filled in. */
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE *)0)->MEMBER))
#endif

#endif
