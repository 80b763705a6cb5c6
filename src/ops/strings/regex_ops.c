/* RegexReplace, RegexFullMatch, StaticRegexReplace, StaticRegexFullMatch. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/regex.h"
#include "ops/strings/string_elements.h"
#include "ops/strings/unicode.h"

/* --- patterns --- */

static Regex *compile_pattern(Str pattern, Status *status) {
  Regex *regex = regex_new(pattern, status);
  if (!regex && status->code == CODE_INVALID_ARGUMENT) {
    Status cause = *status;
    status_invalid(status, "Invalid pattern: %.*s, error: %s", (int)pattern.length, pattern.data,
                   cause.message);
  }
  return regex;
}

typedef struct Replacement {
  const Regex *regex;
  RegexScratch *scratch;
  Str rewrite;
  bool all;
} Replacement;

/* Whether the groups of the rewrite are in the pattern. As in TensorFlow, nothing is replaced otherwise. */
static bool has_groups(const Regex *regex, Str rewrite) {
  for (size_t i = 0; i + 1 < rewrite.length; i++) {
    if (rewrite.data[i] != '\\') continue;
    char c = rewrite.data[++i];
    if (c >= '0' && c <= '9' && c - '0' > regex_num_groups(regex)) return false;
  }
  return true;
}

/* A backslash that is not before a digit or a backslash ends the rewrite. */
static void append_rewrite(const Replacement *replacement, Str text, const int64_t *found, StrBuf *out) {
  Str rewrite = replacement->rewrite;
  for (size_t i = 0; i < rewrite.length; i++) {
    if (rewrite.data[i] != '\\') {
      strbuf_append_char(out, rewrite.data[i]);
    } else if (++i < rewrite.length && rewrite.data[i] == '\\') {
      strbuf_append_char(out, '\\');
    } else if (i == rewrite.length || rewrite.data[i] < '0' || rewrite.data[i] > '9') {
      return;
    } else {
      const int64_t *group = found + 2 * (rewrite.data[i] - '0');
      if (group[0] >= 0 && group[1] >= group[0])
        strbuf_append_bytes(out, text.data + group[0], (size_t)(group[1] - group[0]));
    }
  }
}

/* Replaces the first match, or all that do not overlap. An empty match directly behind a match does not
 * count. */
static bool replace(const void *state, Str text, StrBuf *out, Status *status) {
  const Replacement *replacement = state;
  int64_t at = 0, last_end = -1, found[REGEX_MAX_POSITIONS], end = (int64_t)text.length;
  (void)status;
  while (at <= end && regex_find(replacement->regex, replacement->scratch, text, at, found)) {
    strbuf_append_bytes(out, text.data + at, (size_t)(found[0] - at));
    at = found[0];
    if (at == last_end && found[1] == at) {
      if (at == end) break;
      int length;
      bool whole = utf8_decode((Str){text.data + at, (size_t)(end - at)}, &length) != UNICODE_INVALID;
      if (!whole) length = 1;
      strbuf_append_bytes(out, text.data + at, (size_t)length);
      at += length;
      continue;
    }
    append_rewrite(replacement, text, found, out);
    at = last_end = found[1];
    if (!replacement->all) break;
  }
  if (at < end) strbuf_append_bytes(out, text.data + at, (size_t)(end - at));
  return true;
}

static bool replace_all_strings(KernelContext *context, const Regex *regex, Str rewrite, bool all,
                                Status *status) {
  if (!has_groups(regex, rewrite)) return kernel_set_output(context, 0, context->inputs[0], NULL, status);
  RegexScratch *scratch = regex_scratch_new(regex, status);
  if (!scratch) return false;
  Replacement replacement = {regex, scratch, rewrite, all};
  bool ok = change_strings(context, replace, &replacement, status);
  regex_scratch_free(scratch);
  return ok;
}

static bool match_all_strings(KernelContext *context, const Regex *regex, Status *status) {
  const Tensor *in = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &in->shape, &out, status));
  RegexScratch *scratch = regex_scratch_new(regex, status);
  if (!scratch) return false;
  for (int64_t i = 0; i < tensor_num_elements(in); i++)
    tensor_bool(out)[i] = regex_matches(regex, scratch, string_at(in, i));
  regex_scratch_free(scratch);
  return true;
}

/* --- patterns from inputs --- */

typedef struct RegexState {
  Regex *regex; /* of a pattern in an attr */
  Str rewrite;
  bool all;
} RegexState;

static bool replace_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "replace_global", &((RegexState *)memory)->all, status);
}

static bool check_scalar(const Tensor *tensor, const char *name, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return tensor_is_scalar(tensor) ||
         status_invalid(status, "%s must be scalar, but received %s", name, shape_text(&tensor->shape, text));
}

static bool regex_replace(KernelContext *context, Status *status) {
  const RegexState *state = context->state;
  TRY(check_scalar(context->inputs[1], "Pattern", status));
  TRY(check_scalar(context->inputs[2], "Rewrite", status));
  Regex *regex = compile_pattern(string_at(context->inputs[1], 0), status);
  bool ok =
      regex && replace_all_strings(context, regex, string_at(context->inputs[2], 0), state->all, status);
  regex_free(regex);
  return ok;
}

static bool regex_full_match(KernelContext *context, Status *status) {
  TRY(check_scalar(context->inputs[1], "Pattern", status));
  Regex *regex = compile_pattern(string_at(context->inputs[1], 0), status);
  bool ok = regex && match_all_strings(context, regex, status);
  regex_free(regex);
  return ok;
}

/* --- patterns from attrs --- */

static bool static_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str pattern;
  TRY(node_attr_string(construction->node, "pattern", &pattern, status));
  return (((RegexState *)memory)->regex = compile_pattern(pattern, status));
}

static bool static_replace_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return static_construct(construction, memory, status) && replace_construct(construction, memory, status) &&
         node_attr_string(construction->node, "rewrite", &((RegexState *)memory)->rewrite, status);
}

static void static_destroy(void *memory) { regex_free(((RegexState *)memory)->regex); }

static bool static_regex_replace(KernelContext *context, Status *status) {
  const RegexState *state = context->state;
  return replace_all_strings(context, state->regex, state->rewrite, state->all, status);
}

static bool static_regex_full_match(KernelContext *context, Status *status) {
  return match_all_strings(context, ((const RegexState *)context->state)->regex, status);
}

/* --- ops --- */

static bool regex_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  for (int i = 1; i < c->num_inputs; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  shape_set_output(c, 0, shape_input(c, 0));
  return true;
}

const OpRegistration kOpRegexReplace = {
    .name = "RegexReplace",
    .inputs = {"input: string", "pattern: string", "rewrite: string"},
    .outputs = {"output: string"},
    .attrs = {"replace_global: bool = true"},
    .shape = regex_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RegexState),
    .construct = replace_construct,
    .kernels = {{DT_INVALID, regex_replace}},
};

const OpRegistration kOpRegexFullMatch = {
    .name = "RegexFullMatch",
    .inputs = {"input: string", "pattern: string"},
    .outputs = {"output: bool"},
    .shape = regex_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, regex_full_match}},
};

const OpRegistration kOpStaticRegexReplace = {
    .name = "StaticRegexReplace",
    .inputs = {"input: string"},
    .outputs = {"output: string"},
    .attrs = {"pattern: string", "rewrite: string", "replace_global: bool = true"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RegexState),
    .construct = static_replace_construct,
    .destroy = static_destroy,
    .kernels = {{DT_INVALID, static_regex_replace}},
};

const OpRegistration kOpStaticRegexFullMatch = {
    .name = "StaticRegexFullMatch",
    .inputs = {"input: string"},
    .outputs = {"output: bool"},
    .attrs = {"pattern: string"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RegexState),
    .construct = static_construct,
    .destroy = static_destroy,
    .kernels = {{DT_INVALID, static_regex_full_match}},
};
