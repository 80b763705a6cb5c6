#include <inttypes.h>
#include <string.h>

#include "base/shared_bytes.h"
#include "tensor/tensor_internal.h"

/* Larger tensors are not printed. */
enum { PRINT_LIMIT_BYTES = 32 << 20, LARGEST_ELEMENT = 16 };

/* A validated TensorProto. */
typedef struct ProtoView {
  const TensorProto *proto;
  DataType dtype;
  size_t element_size;
  int64_t num_elements; /* the number of elements of the shape */
  int64_t stored;       /* the number of stored elements: the last one repeats; 0: all are zero */
  bool has_content;
  const uint8_t *lengths, *bytes; /* the string's tensor_content: the position of the next element */
} ProtoView;

static bool refuse(Status *status, const char *reason) {
  return status_invalid(status, "Cannot parse tensor from proto: %s", reason);
}

/* The number of elements in the dtype's *_val field. */
static int64_t count_values(const TensorProto *proto, DataType dtype) {
  switch (dtype) {
    case DT_FLOAT: return (int64_t)proto->n_float_val;
    case DT_DOUBLE: return (int64_t)proto->n_double_val;
    case DT_HALF:
    case DT_BFLOAT16: return (int64_t)proto->n_half_val;
    case DT_STRING: return (int64_t)proto->n_string_val;
    case DT_COMPLEX64: return (int64_t)proto->n_scomplex_val / 2;
    case DT_COMPLEX128: return (int64_t)proto->n_dcomplex_val / 2;
    case DT_INT64: return (int64_t)proto->n_int64_val;
    case DT_BOOL: return (int64_t)proto->n_bool_val;
    case DT_UINT32: return (int64_t)proto->n_uint32_val;
    case DT_UINT64: return (int64_t)proto->n_uint64_val;
    case DT_RESOURCE: return (int64_t)proto->n_resource_handle_val;
    case DT_VARIANT: return (int64_t)proto->n_variant_val;
    default: return (int64_t)(dtype_is_float8((int)dtype) ? proto->float8_val.len : proto->n_int_val);
  }
}

/* Writes element `i` of the *_val field in the layout of a tensor's memory. */
static void load_value(const TensorProto *proto, DataType dtype, int64_t i, void *to) {
  switch (dtype) {
    case DT_FLOAT: memcpy(to, &proto->float_val[i], 4); break;
    case DT_DOUBLE: memcpy(to, &proto->double_val[i], 8); break;
    case DT_HALF:
    case DT_BFLOAT16:
      memcpy(to, &proto->half_val[i], 2);
      break; /* the low half, because hosts are little-endian */
    case DT_COMPLEX64: memcpy(to, &proto->scomplex_val[2 * i], 8); break;
    case DT_COMPLEX128: memcpy(to, &proto->dcomplex_val[2 * i], 16); break;
    case DT_INT64: memcpy(to, &proto->int64_val[i], 8); break;
    case DT_BOOL: *(uint8_t *)to = proto->bool_val[i] != 0; break;
    case DT_UINT32: memcpy(to, &proto->uint32_val[i], 4); break;
    case DT_UINT64: memcpy(to, &proto->uint64_val[i], 8); break;
    default:
      if (dtype_is_float8((int)dtype)) {
        *(uint8_t *)to = proto->float8_val.data[i];
      } else {
        memcpy(to, &proto->int_val[i], dtype_size(dtype));
      }
  }
}

/* --- tensor_content of strings: all lengths as varints, then all bytes --- */

static bool read_length(const uint8_t **cursor, const uint8_t *end, uint64_t *length) {
  *length = 0;
  for (int shift = 0; shift < 35 && *cursor < end; shift += 7) {
    uint8_t byte = *(*cursor)++;
    *length |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return *length <= UINT32_MAX;
  }
  return false;
}

static bool check_string_content(ProtoView *view, Status *status) {
  const ProtobufCBinaryData *content = &view->proto->tensor_content;
  const uint8_t *cursor = content->data, *end = content->data + content->len;
  uint64_t total = 0, length;
  for (int64_t i = 0; i < view->num_elements; i++) {
    if (!read_length(&cursor, end, &length))
      return refuse(status, "the lengths of the strings in tensor_content are cut");
    total += length;
  }
  if (total != (uint64_t)(end - cursor))
    return refuse(status, "tensor_content does not have the length of its strings");
  view->lengths = content->data;
  view->bytes = cursor;
  return true;
}

/* --- views --- */

static bool check_content(ProtoView *view, Status *status) {
  const ProtobufCBinaryData *content = &view->proto->tensor_content;
  if (view->dtype == DT_STRING) return check_string_content(view, status);
  int64_t bytes = view->num_elements * (int64_t)view->element_size;
  if ((int64_t)content->len != bytes) {
    return status_invalid(status,
                          "Cannot parse tensor from proto: tensor_content has %zu bytes, but %" PRId64
                          " elements of type %s take %" PRId64,
                          content->len, view->num_elements, dtype_name(view->dtype), bytes);
  }
  for (size_t i = 0; view->dtype == DT_BOOL && i < content->len; i++) {
    if (content->data[i] > 1) return refuse(status, "tensor_content has a bool that is neither 0 nor 1");
  }
  return true;
}

static bool open_view(const TensorProto *proto, ProtoView *view, Status *status) {
  *view =
      (ProtoView){.proto = proto, .dtype = (DataType)proto->dtype, .element_size = dtype_size(proto->dtype)};
  if (!dtype_is_valid(proto->dtype) || dtype_is_ref(proto->dtype)) {
    return status_invalid(status, "Cannot parse tensor from proto: invalid dtype %d", (int)proto->dtype);
  }
  TRY(shape_check_proto(proto->tensor_shape, &view->num_elements, status));
  if (view->num_elements > INT64_MAX / (int64_t)view->element_size)
    return refuse(status, "more than 2**63 - 1 bytes");
  if (view->num_elements == 0) return true;
  view->has_content = proto->tensor_content.len > 0;
  view->stored = view->has_content ? view->num_elements : count_values(proto, view->dtype);
  if (view->stored > view->num_elements) view->stored = view->num_elements;
  bool objects = !dtype_is_pod(proto->dtype) && view->dtype != DT_STRING;
  if (objects && view->stored > 0) {
    return status_invalid(status, "Cannot parse tensor from proto: elements of type %s",
                          dtype_name(proto->dtype));
  }
  return !view->has_content || check_content(view, status);
}

/* String `i`; with tensor_content, `i` must increase by one from 0. */
static Str string_at(ProtoView *view, int64_t i) {
  if (view->has_content) {
    uint64_t length = 0;
    read_length(&view->lengths, view->bytes, &length);
    Str string = {(const char *)view->bytes, (size_t)length};
    view->bytes += length;
    return string;
  }
  if (view->stored == 0) return (Str){"", 0};
  const ProtobufCBinaryData *bytes = &view->proto->string_val[i < view->stored ? i : view->stored - 1];
  return (Str){(const char *)bytes->data, bytes->len};
}

/* A pointer to the bytes of element `i`, which may be copied to `scratch`. */
static const void *element_at(const ProtoView *view, int64_t i, void *scratch) {
  if (view->has_content) return view->proto->tensor_content.data + i * (int64_t)view->element_size;
  if (view->stored == 0) return memset(scratch, 0, LARGEST_ELEMENT);
  load_value(view->proto, view->dtype, i < view->stored ? i : view->stored - 1, scratch);
  return scratch;
}

/* `to` must hold empty strings. */
static bool fill_strings(ProtoView *view, TString *to, int64_t count, Status *status) {
  int64_t loaded = view->stored < count ? view->stored : count;
  for (int64_t i = 0; i < loaded; i++) {
    Str string = string_at(view, i);
    bool repeats = i == loaded - 1 && loaded < count;
    TRY(repeats ? tstring_set_shared(&to[i], string.data, string.length, status)
                : tstring_set(&to[i], string.data, string.length, status));
  }
  if (loaded == 0) return true;
  for (int64_t i = loaded; i < count; i++) TRY(tstring_copy(&to[i], &to[loaded - 1], status));
  return true;
}

static void fill_pod(const ProtoView *view, char *to, int64_t count) {
  size_t size = view->element_size, total = (size_t)count * size;
  if (total == 0) return;
  if (view->has_content) {
    memcpy(to, view->proto->tensor_content.data, total);
    return;
  }
  if (view->stored == 0) {
    memset(to, 0, total);
    return;
  }
  int64_t loaded = view->stored < count ? view->stored : count;
  for (int64_t i = 0; i < loaded; i++) load_value(view->proto, view->dtype, i, to + (size_t)i * size);
  /* Repeats the last value: each copy doubles the filled part. */
  const char *last = to + (size_t)(loaded - 1) * size;
  size_t done = (size_t)loaded * size, filled = size;
  while (done < total) {
    size_t step = filled < total - done ? filled : total - done;
    memcpy(to + done, last, step);
    done += step;
    filled += step;
  }
}

bool tensor_proto_validate(const TensorProto *proto, Status *status) {
  ProtoView view;
  return open_view(proto, &view, status);
}

static void release_shared(void *data, size_t size, void *argument) {
  (void)size, (void)argument;
  shared_bytes_unref(data);
}

/* Makes `tensor` one of the shared bytes, whose reference it takes. */
static bool wrap_shared(Tensor *tensor, DataType dtype, const Shape *shape, void *data, int64_t bytes,
                        Status *status) {
  if (tensor_wrap(tensor, dtype, shape->rank, shape_dims(shape), data, bytes, release_shared, NULL, status))
    return true;
  shared_bytes_unref(data);
  return false;
}

bool tensor_allocate_shared(Tensor *tensor, DataType dtype, const Shape *shape, Status *status) {
  int64_t bytes;
  if (__builtin_mul_overflow(shape_num_elements(shape), (int64_t)dtype_size(dtype), &bytes) ||
      bytes < SHARED_BYTES_LEAST)
    return tensor_allocate(tensor, dtype, shape, NULL, status);
  void *data = shared_bytes_new(bytes);
  if (!data) return status_oom(status, "a tensor");
  return wrap_shared(tensor, dtype, shape, data, bytes, status);
}

/* Whether the tensor can have the memory of the content; adds a reference to that. */
static bool share_content(const ProtoView *view) {
  const ProtobufCBinaryData *content = &view->proto->tensor_content;
  return view->has_content && content->len >= SHARED_BYTES_LEAST && dtype_is_pod((int)view->dtype) &&
         shared_bytes_ref(content->data);
}

static bool read_proto(const TensorProto *proto, bool shares, Tensor *tensor, Status *status) {
  ProtoView view;
  Shape shape = {0};
  Tensor result = {0};
  bool ok = false;
  TRY(open_view(proto, &view, status));
  TRY(shape_from_proto(proto->tensor_shape, &shape, status));
  if (shares && share_content(&view)) {
    ok = wrap_shared(tensor, view.dtype, &shape, proto->tensor_content.data,
                     (int64_t)proto->tensor_content.len, status);
    goto done;
  }
  TRY_DONE(tensor_allocate(&result, view.dtype, &shape, NULL, status));
  if (view.dtype == DT_STRING) {
    TRY_DONE(fill_strings(&view, tensor_strings(&result), view.num_elements, status));
  } else if (dtype_is_pod((int)view.dtype)) {
    fill_pod(&view, result.data, view.num_elements);
  }
  tensor_move(tensor, &result);
  ok = true;
done:
  tensor_clear(&result);
  shape_clear(&shape);
  return ok;
}

bool tensor_from_proto(const TensorProto *proto, Tensor *tensor, Status *status) {
  return read_proto(proto, true, tensor, status);
}

bool tensor_copy_proto(const TensorProto *proto, Tensor *tensor, Status *status) {
  return read_proto(proto, false, tensor, status);
}

/* --- to proto --- */

static bool put_shape(const Shape *shape, Arena *arena, TensorProto *proto, Status *status) {
  TensorShapeProto *result = proto_new(kTensorShapeProto, arena);
  if (!result) return status_oom(status, "tensor shape");
  for (int i = 0; i < shape->rank; i++) {
    TensorShapeDim *dim = proto_new(&tensorflow__tensor_shape_proto__dim__descriptor, arena);
    if (!dim) return status_oom(status, "tensor shape");
    dim->size = shape_dim(shape, i);
    TRY(proto_append(arena, (void ***)&result->dim, &result->n_dim, dim, status));
  }
  proto->tensor_shape = result;
  return true;
}

static bool put_bytes(const void *bytes, size_t length, Arena *arena, ProtobufCBinaryData *to) {
  if (length == 0) return true;
  to->data = arena_copy_bytes(arena, bytes, length);
  if (!to->data) return false;
  to->len = length;
  return true;
}

static bool put_strings(const Tensor *tensor, Arena *arena, TensorProto *proto) {
  int64_t count = tensor_num_elements(tensor);
  if (count == 0) return true;
  proto->string_val = arena_calloc(arena, count, sizeof *proto->string_val);
  if (!proto->string_val) return false;
  proto->n_string_val = (size_t)count;
  for (int64_t i = 0; i < count; i++) {
    Str string = tstring_view(&tensor_strings(tensor)[i]);
    if (!put_bytes(string.data, string.length, arena, &proto->string_val[i])) return false;
  }
  return true;
}

/* Sets a *_val field to `count` numbers of `size` bytes, in the layout of the field. */
static bool put_values(const void *from, size_t count, size_t size, Arena *arena, void *field,
                       size_t *field_count) {
  void *values = arena_calloc(arena, (int64_t)count, (int64_t)size);
  if (!values) return false;
  memcpy(values, from, count * size);
  memcpy(field, &values, sizeof values);
  *field_count = count;
  return true;
}

/* Writes the single element into its *_val field. */
static bool put_value(const Tensor *tensor, Arena *arena, TensorProto *p) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case DT_FLOAT: return put_values(data, 1, 4, arena, &p->float_val, &p->n_float_val);
    case DT_DOUBLE: return put_values(data, 1, 8, arena, &p->double_val, &p->n_double_val);
    case DT_COMPLEX64: return put_values(data, 2, 4, arena, &p->scomplex_val, &p->n_scomplex_val);
    case DT_COMPLEX128: return put_values(data, 2, 8, arena, &p->dcomplex_val, &p->n_dcomplex_val);
    case DT_INT64: return put_values(data, 1, 8, arena, &p->int64_val, &p->n_int64_val);
    case DT_UINT32: return put_values(data, 1, 4, arena, &p->uint32_val, &p->n_uint32_val);
    case DT_UINT64: return put_values(data, 1, 8, arena, &p->uint64_val, &p->n_uint64_val);
    case DT_BOOL: {
      protobuf_c_boolean value = *(const uint8_t *)data != 0;
      return put_values(&value, 1, sizeof value, arena, &p->bool_val, &p->n_bool_val);
    }
    case DT_HALF:
    case DT_BFLOAT16: {
      int32_t bits = *(const uint16_t *)data;
      return put_values(&bits, 1, 4, arena, &p->half_val, &p->n_half_val);
    }
    case DT_INT4:
    case DT_INT2:
    case DT_UINT4:
    case DT_UINT2: {
      /* The whole byte, including the bits that the type does not use. */
      bool is_signed = tensor->dtype == DT_INT4 || tensor->dtype == DT_INT2;
      int32_t number = is_signed ? *(const int8_t *)data : *(const uint8_t *)data;
      return put_values(&number, 1, 4, arena, &p->int_val, &p->n_int_val);
    }
    default: {
      if (dtype_is_float8((int)tensor->dtype)) return put_bytes(data, 1, arena, &p->float8_val);
      int32_t number = (int32_t)tensor_double_at(tensor, 0);
      return put_values(&number, 1, 4, arena, &p->int_val, &p->n_int_val);
    }
  }
}

static bool holds_objects(const Tensor *tensor) {
  if (tensor->dtype != DT_RESOURCE && tensor->dtype != DT_VARIANT) return false;
  TensorObject *const *objects = tensor->data;
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) {
    if (objects[i]) return true;
  }
  return false;
}

/* A proto with dtype and shape. */
static bool begin_proto(const Tensor *tensor, Arena *arena, TensorProto **proto, Status *status) {
  if (tensor_is_empty(tensor) || holds_objects(tensor)) {
    return status_invalid(status, "A tensor of type %s cannot be put into a TensorProto",
                          dtype_name(tensor->dtype));
  }
  *proto = proto_new(kTensorProto, arena);
  if (!*proto) return status_oom(status, "TensorProto");
  (*proto)->dtype = (Tensorflow__DataType)tensor->dtype;
  return put_shape(&tensor->shape, arena, *proto, status);
}

/* All lengths as varints, then all bytes. */
static bool put_string_content(const Tensor *tensor, Arena *arena, TensorProto *proto, Status *status) {
  StrBuf content = {0};
  const TString *strings = tensor_strings(tensor);
  int64_t count = tensor_num_elements(tensor);
  for (int64_t i = 0; i < count; i++) {
    uint64_t length = tstring_view(&strings[i]).length;
    for (; length > 0x7f; length >>= 7) strbuf_append_char(&content, (char)(0x80 | (length & 0x7f)));
    strbuf_append_char(&content, (char)length);
  }
  for (int64_t i = 0; i < count; i++) {
    Str string = tstring_view(&strings[i]);
    strbuf_append_bytes(&content, string.data, string.length);
  }
  bool ok = strbuf_ok(&content, status) &&
            (put_bytes(strbuf_text(&content), (size_t)content.length, arena, &proto->tensor_content) ||
             status_oom(status, "TensorProto"));
  strbuf_free(&content);
  return ok;
}

bool tensor_to_content_proto(const Tensor *tensor, Arena *arena, TensorProto **proto, Status *status) {
  TRY(begin_proto(tensor, arena, proto, status));
  if (tensor->dtype == DT_STRING) return put_string_content(tensor, arena, *proto, status);
  return !dtype_is_pod((int)tensor->dtype) ||
         put_bytes(tensor->data, (size_t)tensor_bytes(tensor), arena, &(*proto)->tensor_content) ||
         status_oom(status, "TensorProto");
}

bool tensor_to_pod_content_proto(const Tensor *tensor, Arena *arena, TensorProto **proto, Status *status) {
  return tensor->dtype == DT_STRING ? tensor_to_proto(tensor, arena, proto, status)
                                    : tensor_to_content_proto(tensor, arena, proto, status);
}

bool tensor_to_proto(const Tensor *tensor, Arena *arena, TensorProto **proto, Status *status) {
  TensorProto *result;
  TRY(begin_proto(tensor, arena, &result, status));
  int64_t count = tensor_num_elements(tensor);
  bool ok = true, pod = dtype_is_pod((int)tensor->dtype); /* uninitialised objects have no values */
  if (tensor->dtype == DT_STRING) {
    ok = put_strings(tensor, arena, result);
  } else if (pod && count == 1) {
    ok = put_value(tensor, arena, result);
  } else if (pod && count > 1) {
    ok = put_bytes(tensor->data, (size_t)tensor_bytes(tensor), arena, &result->tensor_content);
  }
  if (!ok) return status_oom(status, "TensorProto");
  *proto = result;
  return true;
}

/* --- comparing and printing --- */

static bool equal_shapes(const TensorShapeProto *a, const TensorShapeProto *b) {
  size_t rank = a ? a->n_dim : 0;
  if (rank != (b ? b->n_dim : 0)) return false;
  for (size_t i = 0; i < rank; i++) {
    if (a->dim[i]->size != b->dim[i]->size) return false;
  }
  return true;
}

bool tensor_proto_equal(const TensorProto *a, const TensorProto *b) {
  ProtoView x, y;
  Status ignored;
  status_init(&ignored);
  if (!open_view(a, &x, &ignored) || !open_view(b, &y, &ignored)) return proto_equal(a, b);
  if (x.dtype != y.dtype || !equal_shapes(a->tensor_shape, b->tensor_shape)) return false;
  if (x.has_content && y.has_content && x.dtype != DT_STRING)
    return memcmp(a->tensor_content.data, b->tensor_content.data, a->tensor_content.len) == 0;
  /* Beyond the stored elements both protos repeat an element that was compared before. */
  int64_t count = x.stored > y.stored ? x.stored : y.stored;
  if (count == 0) count = 1;
  if (count > x.num_elements) count = x.num_elements;
  for (int64_t i = 0; i < count; i++) {
    if (x.dtype == DT_STRING) {
      if (!str_equal(string_at(&x, i), string_at(&y, i))) return false;
    } else {
      unsigned char scratch_x[LARGEST_ELEMENT], scratch_y[LARGEST_ELEMENT];
      if (memcmp(element_at(&x, i, scratch_x), element_at(&y, i, scratch_y), x.element_size) != 0)
        return false;
    }
  }
  return true;
}

/* "<label: short text>". */
static void print_message(const char *label, const TensorProto *proto, StrBuf *out) {
  strbuf_printf(out, "<%s: ", label);
  proto_print_text(proto, PROTO_TEXT_SHORT, out);
  strbuf_append_char(out, '>');
}

void tensor_proto_print(const TensorProto *proto, int64_t max_entries, StrBuf *out) {
  ProtoView view;
  Status status;
  status_init(&status);
  if (!open_view(proto, &view, &status)) {
    print_message("Invalid TensorProto", proto, out);
    return;
  }
  if (view.num_elements > PRINT_LIMIT_BYTES / (int64_t)view.element_size) {
    TensorProto head;
    tensorflow__tensor_proto__init(&head);
    head.dtype = proto->dtype;
    head.tensor_shape = proto->tensor_shape;
    print_message("TensorProto", &head, out);
    return;
  }
  /* Reads only the printed elements from the proto. */
  int64_t count = max_entries >= 0 && max_entries < view.num_elements ? max_entries : view.num_elements;
  Tensor values = {0};
  Shape shape = {0};
  bool ok = shape_from_proto(proto->tensor_shape, &shape, &status) &&
            tensor_allocate_dims(&values, view.dtype, 1, &count, NULL, &status);
  if (ok && view.dtype == DT_STRING) {
    ok = fill_strings(&view, tensor_strings(&values), count, &status);
  } else if (ok && dtype_is_pod((int)view.dtype)) {
    fill_pod(&view, values.data, count);
  }
  if (ok) {
    print_tensor_as(&values, &shape, max_entries, out);
  } else {
    out->failed = true;
  }
  tensor_clear(&values);
  shape_clear(&shape);
}
