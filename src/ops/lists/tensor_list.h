/* TensorList: a list of tensors of one dtype, the element of a DT_VARIANT scalar. A list with several users
 * does not change: appending makes a new list, which shares the items with the old one. */
#ifndef TFCORE_OPS_LISTS_TENSOR_LIST_H_
#define TFCORE_OPS_LISTS_TENSOR_LIST_H_

#include <stdatomic.h>

#include "op/shape_inference.h"
#include "ops/support/variant.h"

/* Items that several lists may share. Each list has a number of the first items. */
typedef struct ListItems {
  atomic_int references;
  atomic_flag lock;
  Tensor *items; /* empty tensors stand for uninitialised items; memory after `count` items is undefined */
  int64_t count, capacity;
  int64_t claimed; /* the length of the longest list that ever shared the items */
  int depth; /* above that of the items of every list among them: items that a list can be reached from are
                deeper than its own */
} ListItems;

typedef struct TensorList {
  VariantObject variant;
  DataType dtype;
  int rank;           /* of the elements; -1: any */
  int64_t *dims;      /* -1: any */
  int64_t max_length; /* -1: any */
  int64_t length;
  ListItems *items;
} TensorList;

/* --- items --- */

ListItems *list_items_new(void);         /* with one reference; NULL when out of memory */
void list_items_unref(ListItems *items); /* NULL is fine */
void list_items_lock(ListItems *items);
void list_items_unlock(ListItems *items);
/* Makes room for `count` items; new ones are not initialised. */
MUST_CHECK bool list_items_extend(ListItems *items, int64_t count, Status *status);

/* --- lists --- */

/* The list in a scalar. INVALID_ARGUMENT if the tensor does not hold a list. */
MUST_CHECK bool tensor_list_of(const Tensor *handle, TensorList **list, Status *status);
/* Element `i` of a tensor of variants; NULL if it is not a list. */
TensorList *tensor_list_at(const Tensor *handles, int64_t i);
/* A list of the same kind with the first `length` of `items`, whose reference it takes over. NULL with status
 * when out of memory, which includes NULL for `items`. */
TensorList *tensor_list_new_like(const TensorList *like, ListItems *items, int64_t length, Status *status);
void tensor_list_drop(TensorList *list); /* gives the reference back; NULL is fine */
/* Item `i`, empty when it is not initialised. */
MUST_CHECK bool tensor_list_item(const TensorList *list, int64_t i, Tensor *item, Status *status);
/* Copies item `i`, which has `count` elements, to the elements of `out` from `first` on. An item that is not
 * initialised gives zeros. */
MUST_CHECK bool tensor_list_copy_item(const TensorList *list, int64_t i, Tensor *out, int64_t first,
                                      int64_t count, Status *status);
/* Copies the list's items, so that no other list shares them. NULL with status when out of memory. */
ListItems *tensor_list_copy_items(const TensorList *list, Status *status);
/* A list that has one more item; `list` keeps its length. NULL with status. */
TensorList *tensor_list_append(TensorList *list, const Tensor *tensor, Status *status);
/* Drops the items after the end of the list, which longer lists had. No other list may share the items. */
void tensor_list_drop_behind(TensorList *list);

/* --- shapes of elements --- */

/* Reads an input that states the shape of elements: a scalar -1 (*rank is -1), or a vector of sizes, with -1
 * for any size. */
MUST_CHECK bool element_shape_read(const Tensor *tensor, int *rank, int64_t dims[SHAPE_MAX_RANK],
                                   Status *status);
void element_shape_print(int rank, const int64_t *dims, StrBuf *out);
bool element_shape_known(int rank, const int64_t *dims);
bool element_shape_fits(const TensorList *list, const Shape *shape);
/* Merges another shape, in which -1 is any size, into *rank and dims. INVALID_ARGUMENT if they differ. */
MUST_CHECK bool element_shape_refine(int *rank, int64_t dims[SHAPE_MAX_RANK], int other_rank,
                                     const int64_t *other, Status *status);
/* Merges the list's element shape into the one that an op states. */
MUST_CHECK bool element_shape_merge(const TensorList *list, int *rank, int64_t dims[SHAPE_MAX_RANK],
                                    Status *status);
/* INVALID_ARGUMENT unless the rows of a tensor of this shape can be items of a list of these elements. */
MUST_CHECK bool element_shape_check_rows(int rank, const int64_t *dims, const Shape *tensor, Status *status);
/* INVALID_ARGUMENT "<what>: <shape>"; returns false. */
bool element_shape_refuse(const char *what, int rank, const int64_t *dims, Status *status);

/* --- kernels --- */

typedef struct TensorListState {
  DataType dtype;       /* element_dtype */
  int64_t num_elements; /* of TensorListStack; -1: any */
  bool resizes;         /* of TensorListSetItem: resize_if_index_out_of_bounds */
} TensorListState;

/* Fields of a kernel with this state and tensor_list_construct. */
#define TENSOR_LIST_STATE .state_size = sizeof(TensorListState), .construct = tensor_list_construct
bool tensor_list_construct(const KernelConstruction *construction, void *memory, Status *status);
static inline DataType tensor_list_element_type(const KernelContext *context) {
  return ((const TensorListState *)context->state)->dtype;
}
/* The list in input 0, whose elements must have the type of the attr. */
MUST_CHECK bool tensor_list_of_input(KernelContext *context, const char *what, TensorList **list,
                                     Status *status);
/* Sets an output to a scalar that holds the list. Takes over the reference. Returns false if `list` is NULL.
 */
MUST_CHECK bool tensor_list_set_output(KernelContext *context, int output, TensorList *list, Status *status);
/* Whether the kernel is the only user of the list in input 0 and of its items, so that it may change them. */
bool tensor_list_is_owned(const KernelContext *context, const TensorList *list);

/* The list itself if it is owned, otherwise a copy: a list that the kernel may change. NULL with status. */
TensorList *tensor_list_to_change(const KernelContext *context, TensorList *list, Status *status);
/* Sets output 0 to what tensor_list_to_change gave, or drops it if the change was not `ok`. */
MUST_CHECK bool tensor_list_set_changed(KernelContext *context, TensorList *list, TensorList *changed,
                                        bool ok, Status *status);

/* --- shape functions --- */

/* Makes output 0 a list of elements of this shape. */
MUST_CHECK bool tensor_list_infer_handle(InferenceContext *c, ShapeHandle shape, Status *status);
/* The known shape of the elements of input 0. */
MUST_CHECK bool tensor_list_infer_element(InferenceContext *c, ShapeHandle *shape, Status *status);
/* The same, merged with the element shape that input `i` states. */
MUST_CHECK bool tensor_list_infer_element_with(InferenceContext *c, int i, ShapeHandle *shape,
                                               Status *status);

#endif
