#include "ops/math/einsum_gradient.h"

#include "op/node_def.h"
#include "ops/math/einsum_equation.h"
#include "ops/support/conjugate.h"

enum { MAX_LETTERS = 52 };

typedef struct Writer {
  const EinsumEquation *equation;
  char letters[EINSUM_ELLIPSIS]; /* per label, so that texts have no special characters; 0: none yet */
  int num_letters;
  StrBuf *text;
} Writer;

/* The labels of one input: those that its gradient gets from dz and the other input, and those of its own. */
typedef struct Parts {
  EinsumTerm shared, own;
  int own_at[SHAPE_MAX_RANK]; /* axes, negative from the end */
  bool dots;
} Parts;

/* --- terms --- */

static bool add_letters(Writer *w, const EinsumTerm *term, Status *status) {
  for (int i = 0; i < term->count; i++) {
    int label = term->labels[i];
    if (label == EINSUM_ELLIPSIS || w->letters[label]) continue;
    if (w->num_letters == MAX_LETTERS) {
      return status_set(status, CODE_UNIMPLEMENTED, "The gradient of an Einsum with more than %d labels",
                        MAX_LETTERS);
    }
    int letter = w->num_letters++;
    w->letters[label] = (char)(letter < 26 ? 'a' + letter : 'A' + letter - 26);
  }
  return true;
}

static void write_term(const Writer *w, const EinsumTerm *term) {
  for (int i = 0; i < term->count; i++) {
    if (term->labels[i] == EINSUM_ELLIPSIS) {
      strbuf_append(w->text, "...");
    } else {
      strbuf_append_char(w->text, w->letters[term->labels[i]]);
    }
  }
}

static void append(EinsumTerm *term, int label) { term->labels[term->count++] = (int16_t)label; }

static void find_parts(const EinsumEquation *equation, int side, Parts *parts) {
  const EinsumTerm *x = &equation->inputs[side],
                   *y = equation->num_inputs == 2 ? &equation->inputs[1 - side] : NULL;
  *parts = (Parts){.dots = x->ellipsis >= 0 || (y && y->ellipsis >= 0)};
  for (int i = 0; i < x->count; i++) {
    int label = x->labels[i];
    bool shared = einsum_term_has(&equation->output, label) || (y && einsum_term_has(y, label));
    if (i == x->ellipsis || einsum_term_has(shared ? &parts->shared : &parts->own, label)) continue;
    if (!shared) parts->own_at[parts->own.count] = x->ellipsis >= 0 && i > x->ellipsis ? i - x->count : i;
    append(shared ? &parts->shared : &parts->own, label);
  }
}

static bool terms_equal(const EinsumTerm *a, const EinsumTerm *b) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    if (a->labels[i] != b->labels[i]) return false;
  }
  return true;
}

/* --- lines --- */

/* g<side>: dz times the other input, with the axes of the ellipsis first. */
static void write_product(const Writer *w, int side, const Parts *parts) {
  const EinsumEquation *equation = w->equation;
  bool two = equation->num_inputs == 2;
  strbuf_printf(w->text, "  g%d = Einsum[N=%d, T=$T, equation=\"", side, two ? 2 : 1);
  write_term(w, &equation->output);
  if (two) strbuf_append_char(w->text, ',');
  if (two) write_term(w, &equation->inputs[1 - side]);
  strbuf_append(w->text, parts->dots ? "->..." : "->");
  write_term(w, &parts->shared);
  strbuf_append(w->text, two ? "\"](dz, ~x" : "\"](dz");
  if (two) strbuf_printf(w->text, "%d", 1 - side);
  strbuf_append(w->text, ")\n");
}

/* A vector of axes: constants, negative ones from the end. */
static void write_axes(const Writer *w, const char *name, int side, const int *at, int count) {
  strbuf_printf(w->text, "  %s_at%d = Const[dtype=int32, value=[", name, side);
  for (int i = 0; i < count; i++) strbuf_printf(w->text, "%s%d", i == 0 ? "" : ", ", at[i]);
  strbuf_printf(w->text, "]]()\n  %s%d = FloorMod[T=int32](%s_at%d:output:0, rank%d:output:0)\n", name, side,
                name, side, side);
}

/* sizes<side>: the shape of x with the axes of its ellipsis first, then the shared labels. */
static void write_sizes(const Writer *w, int side, const Parts *parts) {
  const EinsumTerm *x = &w->equation->inputs[side];
  int at[SHAPE_MAX_RANK];
  for (int i = 0; i < parts->shared.count; i++) {
    int axis = 0;
    while (x->labels[axis] != parts->shared.labels[i]) axis++;
    at[i] = x->ellipsis >= 0 && axis > x->ellipsis ? axis - x->count : axis;
  }
  write_axes(w, "named", side, at, parts->shared.count);
  int before = x->ellipsis >= 0 ? x->ellipsis : 0, after = x->ellipsis >= 0 ? x->count - 1 - before : 0;
  strbuf_printf(w->text,
                "  first%d = Const[dtype=int32, value=%d]()\n"
                "  after%d = Const[dtype=int32, value=%d]()\n"
                "  step%d = Const[dtype=int32, value=1]()\n"
                "  end%d = Sub[T=int32](rank%d:output:0, after%d:output:0)\n",
                side, before, side, after, side, side, side, side);
  strbuf_printf(w->text, "  dots%d = Range[Tidx=int32](first%d:output:0, %s%d:%s:0, step%d:output:0)\n", side,
                side, x->ellipsis >= 0 ? "end" : "first", side, x->ellipsis >= 0 ? "z" : "output", side);
  strbuf_printf(w->text,
                "  zero%d = Const[dtype=int32, value=0]()\n"
                "  order%d = ConcatV2[N=2, T=int32](dots%d:output:0, named%d:z:0, zero%d:output:0)\n"
                "  sizes%d = Gather[Tparams=int32, Tindices=int32](shape%d:output:0, order%d:output:0)\n",
                side, side, side, side, side, side, side, side);
}

/* s<side>: the sum over axes along which x was broadcast. */
static void write_sum(const Writer *w, int side, const Parts *parts) {
  write_sizes(w, side, parts);
  strbuf_printf(w->text,
                "  spread%d = Shape[T=$T](g%d:output:0)\n"
                "  axes%d = BroadcastGradientArgs(spread%d:output:0, sizes%d:output:0)\n"
                "  total%d = Sum[T=$T](g%d:output:0, axes%d:r1:0)\n"
                "  s%d = Reshape[T=$T](total%d:output:0, sizes%d:output:0)\n",
                side, side, side, side, side, side, side, side, side, side, side);
}

/* d<side>: the axes of x, in its order. */
static void write_order(const Writer *w, int side, const Parts *parts, const char *value) {
  const EinsumTerm *x = &w->equation->inputs[side];
  bool own = parts->own.count > 0;
  if (own) {
    write_axes(w, "own", side, parts->own_at, parts->own.count);
    strbuf_printf(w->text,
                  "  lengths%d = Gather[Tparams=int32, Tindices=int32](shape%d:output:0, own%d:z:0)\n"
                  "  one%d = Const[dtype=$T, value=1]()\n"
                  "  ones%d = Fill[T=$T](lengths%d:output:0, one%d:output:0)\n",
                  side, side, side, side, side, side, side);
  }
  strbuf_printf(w->text, "  d%d = Einsum[N=%d, T=$T, equation=\"%s", side, own ? 2 : 1,
                x->ellipsis >= 0 ? "..." : "");
  write_term(w, &parts->shared);
  if (own) strbuf_append_char(w->text, ',');
  write_term(w, &parts->own);
  strbuf_append(w->text, "->");
  write_term(w, x);
  strbuf_printf(w->text, "\"](%s%d:output:0", value, side);
  if (own) strbuf_printf(w->text, ", ones%d:output:0", side);
  strbuf_append(w->text, ")\n");
}

/* Returns the name of the value, to be followed by the number of the side. */
static const char *write_side(const Writer *w, int side) {
  const EinsumTerm *x = &w->equation->inputs[side];
  Parts parts;
  find_parts(w->equation, side, &parts);
  bool sums = parts.dots && w->equation->num_inputs == 2;
  if (sums || parts.own.count > 0)
    strbuf_printf(w->text, "  shape%d = Shape[T=$T](x%d)\n  rank%d = Rank[T=$T](x%d)\n", side, side, side,
                  side);
  write_product(w, side, &parts);
  if (sums) write_sum(w, side, &parts);
  EinsumTerm made = parts.shared;
  if (x->ellipsis == 0) {
    made = (EinsumTerm){.count = 0};
    append(&made, EINSUM_ELLIPSIS);
    for (int i = 0; i < parts.shared.count; i++) append(&made, parts.shared.labels[i]);
  }
  if (terms_equal(&made, x)) return sums ? "s" : "g";
  write_order(w, side, &parts, sums ? "s" : "g");
  return "d";
}

static bool write_gradient(Writer *w, Status *status) {
  const EinsumEquation *equation = w->equation;
  const char *names[2];
  int count = equation->num_inputs;
  for (int i = 0; i < count; i++) TRY(add_letters(w, &equation->inputs[i], status));
  strbuf_append(w->text, count == 2 ? "EinsumGradient[T:type](x0:T, x1:T, dz:T) -> (dx0:T, dx1:T) {\n"
                                    : "EinsumGradient[T:type](x0:T, dz:T) -> (dx0:T) {\n");
  for (int i = 0; i < count; i++) names[i] = write_side(w, i);
  strbuf_append(w->text, "  return ");
  for (int i = 0; i < count; i++)
    strbuf_printf(w->text, "%sdx%d = %s%d:output:0", i == 0 ? "" : ", ", i, names[i], i);
  strbuf_append(w->text, "\n}\n");
  return strbuf_ok(w->text, status);
}

bool einsum_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  EinsumEquation equation;
  StrBuf marked = {0};
  int64_t count;
  TRY(node_attr_int(request->node, "N", &count, status));
  TRY(einsum_read_equation(request->node, count == 2 ? 2 : 1, &equation, status));
  Writer w = {.equation = &equation, .text = &marked};
  bool ok = write_gradient(&w, status) && conjugate_text(request, marked.data, text, status);
  strbuf_free(&marked);
  return ok;
}
