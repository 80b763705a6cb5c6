/* Macros shared by the headers of TensorFlow's C API. */
#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

#include <stddef.h>

#include "tensorflow/c/tf_export.h"

/* The C API's boolean (TF_BOOL is the dtype). */
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

/* The end of a struct's member: `struct_size` of extensible structs gives the last member that is set. */
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE *)0)->MEMBER))
#endif

#endif
