/* The class of a node, like TensorFlow's Node::NodeClass: control flow, a constant, a call, a function's
 * argument or result.
 *
 * The name of the op determines the class, once for each op of a registry (op/op_registry.h). A node copies
 * the class of its op, so that passes ask graph/node_class.h instead of comparing names. The list includes
 * ops that are not built in: a program may register its own Switch. An op on references (RefSwitch) has the
 * class of the plain op.
 */
#ifndef TFCORE_OP_OP_CLASS_H_
#define TFCORE_OP_OP_CLASS_H_

#include <stdbool.h>
#include <stdint.h>

/* A NodeClass in one byte. */
typedef uint8_t NodeClass;

enum {
  NODE_OTHER,
  /* control flow */
  NODE_SWITCH, /* also _SwitchN */
  NODE_MERGE,
  NODE_ENTER,
  NODE_EXIT,
  NODE_NEXT_ITERATION,
  NODE_LOOP_COND,
  NODE_CONTROL_TRIGGER,
  NODE_NO_OP,
  /* placeholders, sends and receives, handles */
  NODE_SEND,
  NODE_HOST_SEND,
  NODE_RECV,
  NODE_HOST_RECV,
  NODE_SESSION_HANDLE, /* GetSessionHandle, GetSessionTensor, DeleteSessionTensor */
  NODE_KEY_COUNTER,    /* StatelessRandomGetKeyCounter: the result depends on the device */
  NODE_PLACEHOLDER,
  NODE_PLACEHOLDER_WITH_DEFAULT,
  NODE_FAKE_PARAM,
  NODE_ARG,    /* _Arg, _DeviceArg */
  NODE_RETVAL, /* _Retval, _DeviceRetval */
  /* values */
  NODE_CONSTANT,
  NODE_VARIABLE, /* of reference type */
  NODE_IDENTITY,
  NODE_LIST_ARRAY_CONVERTER, /* _ListToArray, _ArrayToList */
  NODE_SHAPE,                /* Shape, ShapeN */
  NODE_SIZE,
  NODE_RANK,
  NODE_CAST,
  NODE_PACK,
  NODE_CONCAT, /* the axis is the first input */
  NODE_CONCAT_V2,
  NODE_STRIDED_SLICE,
  NODE_FUSED, /* _FusedElementwise */
  /* calls of functions */
  NODE_FUNCTION,         /* a call of a library function; not determined by the name */
  NODE_PARTITIONED_CALL, /* also StatefulPartitionedCall: attr `f` names the function */
  NODE_REMOTE_CALL,
  NODE_SYMBOLIC_GRADIENT,
  NODE_IF, /* If, Case and While include the stateless variants */
  NODE_CASE,
  NODE_WHILE,
  NODE_FOR,
  NODE_MAP_ACCUMULATE_GRAD
};

/* Programs carry these ops out themselves: they have no kernels. */
static inline bool node_class_has_no_kernel(NodeClass c) {
  return c >= NODE_SWITCH && c <= NODE_CONTROL_TRIGGER;
}

/* For code that has a NodeDef but no node. NODE_OTHER for names that are not in the list. */
NodeClass node_class_of_op(const char *op);

#endif
