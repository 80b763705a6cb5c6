/* TensorFlow's Canonicalize cuts or hashes long values. Here nothing is cut, so that different instantiations
 * never have one name. */
#include "function/function_canonicalize.h"

#include <inttypes.h>
#include <string.h>

#include "function/text/function_text_internal.h"

/* The executor comes from the options, even when an attr names one. */
static const char kExecutor[] = "_executor";

static bool add_attrs(EntryList *list, const AttrEntry *const *attrs, size_t count, Status *status);

static bool print_value(const AttrValue *value, StrBuf *out, Status *status) {
  if (value->value_case != (int)ATTR_FUNC) return value_print_full(value, out, status);
  print_name(value->func->name, NODE_NAME_CHARS, out);
  if (value->func->n_attr == 0) return true;
  EntryList list = {0};
  bool ok = add_attrs(&list, (const AttrEntry *const *)value->func->attr, value->func->n_attr, status);
  strbuf_append_char(out, '[');
  entry_list_write(&list, ", ", out);
  strbuf_append_char(out, ']');
  entry_list_free(&list);
  return ok;
}

static bool add_attrs(EntryList *list, const AttrEntry *const *attrs, size_t count, Status *status) {
  bool ok = true;
  for (size_t i = 0; ok && i < count; i++) {
    if (strcmp(attrs[i]->key, kExecutor) == 0) continue;
    StrBuf entry = {0};
    print_name(attrs[i]->key, NODE_NAME_CHARS, &entry);
    strbuf_append_char(&entry, '=');
    ok = print_value(attrs[i]->value, &entry, status);
    entry_list_add(list, &entry);
    strbuf_free(&entry);
  }
  return ok;
}

/* Adds an option as "key=text" with C escapes; nothing when the text is NULL or empty. */
static void add_text(EntryList *list, const char *key, const char *text, size_t length) {
  StrBuf entry = {0};
  if (!text || length == 0) return;
  strbuf_printf(&entry, "%s=", key);
  strbuf_append_c_escaped(&entry, text, length);
  entry_list_add(list, &entry);
  strbuf_free(&entry);
}

static void add_name(EntryList *list, const char *key, const char *text) {
  add_text(list, key, text, !text ? 0 : strlen(text));
}

/* A device "" is written too: it differs from no device. */
static void add_devices(EntryList *list, const char *key, const char *const *devices, int count) {
  for (int i = 0; i < count; i++) {
    StrBuf entry = {0};
    strbuf_printf(&entry, "%s%d=", key, i);
    strbuf_append_c_escaped(&entry, devices[i], strlen(devices[i]));
    entry_list_add(list, &entry);
    strbuf_free(&entry);
  }
}

static void add_options(EntryList *list, const InstantiateOptions *options) {
  add_name(list, "_target", options->target);
  add_devices(list, "_input_dev", options->input_devices, options->num_input_devices);
  add_devices(list, "_output_dev", options->output_devices, options->num_output_devices);
  if (options->library) {
    StrBuf entry = {0};
    strbuf_printf(&entry, "_lib_def=%" PRIuPTR, (uintptr_t)options->library);
    entry_list_add(list, &entry);
    strbuf_free(&entry);
  }
  add_name(list, "_state_handle", options->state_handle);
  add_text(list, "_config_proto", options->config_proto.data, options->config_proto.length);
}

/* The options win over the attr. */
static void add_executor(EntryList *list, const AttrEntry *const *attrs, int num_attrs,
                         const InstantiateOptions *options) {
  if (options && options->executor_type && options->executor_type[0] != 0) {
    add_name(list, kExecutor, options->executor_type);
    return;
  }
  for (int i = 0; i < num_attrs; i++) {
    const AttrValue *value = attrs[i]->value;
    if (strcmp(attrs[i]->key, kExecutor) == 0 && value->value_case == (int)ATTR_STRING)
      add_text(list, kExecutor, (const char *)value->s.data, value->s.len);
  }
}

void function_canonicalize_with(const char *name, const AttrEntry *const *attrs, int num_attrs,
                                const InstantiateOptions *options, StrBuf *out) {
  Status status;
  status_init(&status);
  EntryList list = {0};
  if (!add_attrs(&list, attrs, (size_t)num_attrs, &status)) out->failed = true;
  add_executor(&list, attrs, num_attrs, options);
  if (options) add_options(&list, options);
  print_name(name, NODE_NAME_CHARS, out);
  strbuf_append_char(out, '[');
  entry_list_write(&list, ",", out);
  strbuf_append_char(out, ']');
  entry_list_free(&list);
}

void function_canonicalize(const char *name, const AttrEntry *const *attrs, int num_attrs, StrBuf *out) {
  function_canonicalize_with(name, attrs, num_attrs, NULL, out);
}
