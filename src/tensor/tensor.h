/* Tensor: dtype, shape and a reference to a buffer. A value type: a zero-initialised Tensor is empty (dtype
 * DT_INVALID); tensor_assign shares the buffer, tensor_clear drops it. Elements are row-major.
 *
 * Strings: a DT_STRING element is a TString (tensor/tstring.h); a tensor's buffer frees their bytes with its
 * last reference, unless it wraps memory. Resources: a DT_RESOURCE element points to a TensorObject, see
 * op/resource.h.
 */
#ifndef TFCORE_TENSOR_TENSOR_H_
#define TFCORE_TENSOR_TENSOR_H_

#include "tensor/buffer.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tstring.h"

typedef struct Tensor {
  DataType dtype;
  Shape shape;
  Buffer *buffer;
  void *data; /* inside the buffer; NULL only for an empty Tensor */
} Tensor;

/* An element of a DT_RESOURCE or DT_VARIANT tensor: a refcounted object. A NULL pointer is an uninitialised
 * element. */
typedef struct TensorObject {
  atomic_int references;
  void (*destroy)(struct TensorObject *object);
} TensorObject;

void tensor_object_ref(TensorObject *object);
void tensor_object_unref(TensorObject *object); /* NULL is fine */

/* Makes `tensor` a new tensor of that dtype and shape. POD elements are uninitialised, strings empty, objects
 * NULL. The byte size is checked in 64 bits (INVALID_ARGUMENT when it overflows, RESOURCE_EXHAUSTED "OOM when
 * allocating tensor with shape[2,3] and type float" when out of memory). The previous contents are dropped on
 * success only. */
MUST_CHECK bool tensor_allocate(Tensor *tensor, DataType dtype, const Shape *shape, BufferPool *pool,
                                Status *status);
/* A tensor of numbers for tensor_to_proto, which shares its memory: it may be written until then. */
MUST_CHECK bool tensor_allocate_shared(Tensor *tensor, DataType dtype, const Shape *shape, Status *status);
/* With `rank` and `dims` instead of a Shape. */
MUST_CHECK bool tensor_allocate_dims(Tensor *tensor, DataType dtype, int rank, const int64_t *dims,
                                     BufferPool *pool, Status *status);
/* Wraps memory of the caller (TF_NewTensor); `size` must be at least the size for dtype and shape. The caller
 * keeps owning strings: `release` frees their bytes. Objects cannot be wrapped. On failure `release` is not
 * called. */
MUST_CHECK bool tensor_wrap(Tensor *tensor, DataType dtype, int rank, const int64_t *dims, void *data,
                            int64_t size, void (*release)(void *data, size_t size, void *argument),
                            void *argument, Status *status);
/* `to` shares the buffer of `from`. */
MUST_CHECK bool tensor_assign(Tensor *to, const Tensor *from, Status *status);
/* The same buffer with another shape of the same number of elements. */
MUST_CHECK bool tensor_reshape(Tensor *to, const Tensor *from, const Shape *shape, Status *status);
/* Copies the elements: numbers, and strings except for the bytes of counted owners (tstring_copy); objects
 * are shared. */
MUST_CHECK bool tensor_copy(Tensor *to, const Tensor *from, BufferPool *pool, Status *status);
/* Makes it an empty tensor without dropping its contents, which were moved away. Leaves unused dimensions as
 * they are, because steps clear many tensors. */
static inline void tensor_forget(Tensor *tensor) {
  tensor->dtype = DT_INVALID;
  tensor->shape.rank = 0;
  tensor->buffer = NULL;
  tensor->data = NULL;
}
static inline void tensor_clear(Tensor *tensor) {
  buffer_unref(tensor->buffer);
  shape_clear(&tensor->shape);
  tensor_forget(tensor);
}
/* Moves the contents of `from` to `to`; `from` is empty afterwards. */
void tensor_move(Tensor *to, Tensor *from);

static inline bool tensor_is_empty(const Tensor *tensor) { return tensor->dtype == DT_INVALID; }
static inline int64_t tensor_num_elements(const Tensor *tensor) { return shape_num_elements(&tensor->shape); }
int64_t tensor_bytes(const Tensor *tensor);
static inline bool tensor_is_scalar(const Tensor *tensor) { return tensor->shape.rank == 0; }
static inline bool tensor_is_vector(const Tensor *tensor) { return tensor->shape.rank == 1; }

/* Typed access to the elements; the caller has checked the dtype. */
static inline float *tensor_f32(const Tensor *tensor) { return tensor->data; }
static inline double *tensor_f64(const Tensor *tensor) { return tensor->data; }
static inline int32_t *tensor_i32(const Tensor *tensor) { return tensor->data; }
static inline int64_t *tensor_i64(const Tensor *tensor) { return tensor->data; }
static inline bool *tensor_bool(const Tensor *tensor) { return tensor->data; }
static inline TString *tensor_strings(const Tensor *tensor) { return tensor->data; }
/* Element `i` of a tensor of integers of up to 64 bits; uint64 wraps around. */
int64_t tensor_int_at(const Tensor *tensor, int64_t i);
/* The value of any POD tensor's element as double (complex: the real part). */
double tensor_double_at(const Tensor *tensor, int64_t i);

/* TensorFlow's Tensor::DebugString without the pointer: "Tensor<type: float shape: [2,2] values: [1 2][3
 * 4]>", at most `max_entries` elements (3 in DebugString; all when negative), "..." in place of the others.
 * As in TensorFlow the elements of some types are "?": complex64, complex128, qint32, float8_e4m3fnuz,
 * float8_e5m2fnuz, resource, variant. Bytes of strings that are not UTF-8 are printed as \ooo. */
void tensor_print(const Tensor *tensor, int64_t max_entries, StrBuf *out);
/* TensorFlow's Tensor::SummarizeValue for people (print_v2): "[[1 2 3 ... 8 9]\n [...]]", with `edge_items`
 * entries at both ends of each axis, or all when negative. Strings are quoted and escaped. */
void tensor_summarize(const Tensor *tensor, int64_t edge_items, StrBuf *out);

/* --- TensorProto (tensor_proto.c) --- */

/* Reads both encodings like TensorFlow: tensor_content must have the exact length, and takes precedence;
 * short *_val lists repeat their last value, empty ones give zeros, longer ones are truncated, and integers
 * are truncated to the bits of their type. Everything is checked before memory is allocated. A proto is the
 * compact form of a tensor: for all functions below it costs its stored size, however large its shape. Only
 * tensor_from_proto expands it (long repeated strings share their bytes), with RESOURCE_EXHAUSTED when out of
 * memory. Long contents of numbers are shared with the proto where they can be (base/shared_bytes.h), so
 * nobody may write to the tensor. Objects (DT_RESOURCE, DT_VARIANT) cannot be encoded in protos: only tensors
 * without elements, or with uninitialised ones, can be read and written. */
MUST_CHECK bool tensor_from_proto(const TensorProto *proto, Tensor *tensor, Status *status);
/* The same with memory of its own, for programs that may write to it. */
MUST_CHECK bool tensor_copy_proto(const TensorProto *proto, Tensor *tensor, Status *status);
/* Writes tensor_content for POD types with more than one element, else the *_val field. */
MUST_CHECK bool tensor_to_proto(const Tensor *tensor, Arena *arena, TensorProto **proto, Status *status);
/* The same with tensor_content for all types and sizes (TensorFlow's AsProtoTensorContent). */
MUST_CHECK bool tensor_to_content_proto(const Tensor *tensor, Arena *arena, TensorProto **proto,
                                        Status *status);
/* The same with string_val for strings, and tensor_content for all other types and sizes. */
MUST_CHECK bool tensor_to_pod_content_proto(const Tensor *tensor, Arena *arena, TensorProto **proto,
                                            Status *status);
/* Whether dtype, shape and elements (floats by bits) are equal, whatever the encoding; giant splats are
 * compared without expanding them. */
bool tensor_proto_equal(const TensorProto *a, const TensorProto *b);
/* Checks dtype, shape and that the content fits, without allocating. */
MUST_CHECK bool tensor_proto_validate(const TensorProto *proto, Status *status);
/* The text of tensor_print for the tensor of this proto; an invalid proto prints "<Invalid TensorProto: ...>"
 * and one above 32 MiB "<TensorProto: dtype shape>". */
void tensor_proto_print(const TensorProto *proto, int64_t max_entries, StrBuf *out);

#endif
