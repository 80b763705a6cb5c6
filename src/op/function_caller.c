#include "op/function_caller.h"

#include "op/node_def.h"

bool function_from_ref(const FunctionCaller *caller, const NameAttrList *ref, CalledFunction *function, Status *status) {
  if (caller == NULL) return status_invalid(status, "Function %s can be called in a session only", ref->name);
  /* All map entries have the same layout: a key and a value. */
  return caller->instantiate(caller->owner, ref->name, (const AttrEntry *const *)ref->attr, (int)ref->n_attr, function, status);
}

bool function_from_attr(const FunctionCaller *caller, const NodeDef *node, const char *attr, CalledFunction *function,
                        Status *status) {
  const AttrValue *value = node_def_attr(node, attr);
  if (value == NULL || value->value_case != (int)ATTR_FUNC) {
    return status_invalid(status, "No attr named '%s' of type func in {{node %s}}", attr, node->name);
  }
  return function_from_ref(caller, value->func, function, status);
}
