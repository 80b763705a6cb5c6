import assert from 'node:assert/strict';
import { equivalentsOf, mutate, sitesOf } from '../../tools/mutation-sites.mjs';

/** The mutants of a function body, as `kind: line before -> line after`. */
const mutantsOf = (source) =>
  sitesOf(source).flatMap((site) =>
    site.texts.map((text) => {
      const { before, after } = mutate(source, site, text);
      return `${site.kind}: ${before} -> ${after}`;
    }),
  );
const ofLine = (line) => mutantsOf(`static bool f(int *x, int y) {\n  ${line}\n}\n`);

describe('the mutants of a C source', () => {
  it('change operators between operands, both ways where there are two', () => {
    assert.deepEqual(ofLine('bool z = x < y;'), [
      'relational: bool z = x < y; -> bool z = x <= y;',
      'relational: bool z = x < y; -> bool z = x >= y;',
    ]);
    assert.deepEqual(ofLine('int z = x + y;'), ['arithmetic: int z = x + y; -> int z = x - y;']);
    assert.deepEqual(ofLine('bool z = x && !y;'), [
      'logical: bool z = x && !y; -> bool z = x || !y;',
      'not: bool z = x && !y; -> bool z = x && y;',
    ]);
  });

  it('take no pointer, sign or arrow for an operator', () => {
    assert.deepEqual(ofLine('const T *z = x->next, *w = &(T){-y};'), []);
  });

  it('change small numbers, but no floating or hexadecimal one, and no size of an array', () => {
    assert.deepEqual(ofLine('long z = 0, w = 1l, v = 7;'), [
      'literal: long z = 0, w = 1l, v = 7; -> long z = 1, w = 1l, v = 7;',
      'literal: long z = 0, w = 1l, v = 7; -> long z = 0, w = 0l, v = 7;',
      'literal: long z = 0, w = 1l, v = 7; -> long z = 0, w = 2l, v = 7;',
      'literal: long z = 0, w = 1l, v = 7; -> long z = 0, w = 1l, v = 8;',
    ]);
    assert.deepEqual(
      ofLine('double z = 1.5e-3 * 0x10 * 5000;').filter((mutant) => mutant.startsWith('literal')),
      [],
    );
    assert.deepEqual(ofLine('char text[64], *more[2];'), []);
    assert.deepEqual(ofLine('int z = x[2];'), ['literal: int z = x[2]; -> int z = x[3];']);
  });

  it('remove calls, assignments, returns and TRY, but no declaration', () => {
    assert.deepEqual(ofLine('TRY(call(x, status));'), ['try: TRY(call(x, status)); -> {}']);
    assert.deepEqual(ofLine('if (y) call(x);'), [
      'negated: if (y) call(x); -> if (!(y)) call(x);',
      'removed: if (y) call(x); -> if (y) {}',
    ]);
    assert.deepEqual(ofLine('for (;;) x[y] = y;'), ['removed: for (;;) x[y] = y; -> for (;;) {}']);
    assert.deepEqual(ofLine('case A: return y;'), ['removed: case A: return y; -> case A: {}']);
    assert.deepEqual(ofLine('Node *node = x;'), []);
    assert.deepEqual(ofLine('Job job = {.x = x, .y = y};'), []);
  });

  it('join the lines of a statement', () => {
    assert.deepEqual(ofLine('call(x,\n       y);'), ['removed: call(x, y); -> {}']);
  });

  it('swap break and continue, and the two truths', () => {
    assert.deepEqual(ofLine('for (;;) break;'), ['jump: for (;;) break; -> for (;;) continue;']);
    assert.deepEqual(ofLine('bool z = true;'), ['boolean: bool z = true; -> bool z = false;']);
  });

  it('leave comments, texts and preprocessor lines as they are', () => {
    assert.deepEqual(ofLine('/* x < 1 */ char *z = "a == b && \\" true 1"; // break'), []);
    assert.deepEqual(ofLine('#if A < 1 && \\\n  B\n  char *z = x;\n#endif'), []);
  });

  it('leave what stands at file level as it is: tables, enums, definitions of ops and their function text', () => {
    assert.deepEqual(
      mutantsOf(`enum { LIMIT = 1 };
static const int kTable[] = {1, 2};
static const OpDef kDef = {.name = "A", .n_input = 1};
typedef struct Job {
  int size[2];
} Job;
const OpRegistration kOpAdd = {
    .name = "Add",
    .inputs = {"x: T"},
    .is_commutative = true,
    .state_size = 1 + sizeof(Job),
    .gradient =
        "G(x) -> (y) {\\n"
        "  y = Add(x, x)\\n"
        "}\\n",
    .kernels = {{DT_INVALID, add}},
};
`),
      [],
    );
  });

  it('know their functions, also those of templates', () => {
    const source = `static int first(int x) { return -x; }
static void NAME(second)(int x) {
#if FLOATING
  if (x) {
#else
  {
#endif
    call(x);
  }
}
int third(void) {
  return 7;
}
`;
    assert.deepEqual(
      sitesOf(source).map(({ function: name, kind }) => `${name} ${kind}`),
      ['first removed', 'second negated', 'second removed', 'third removed', 'third literal'],
    );
    assert.equal(mutate(source, sitesOf(source).at(-1), '8').line, 12);
  });
});

describe('the list of equivalent mutants', () => {
  const list = equivalentsOf(`# Equivalent\n\n## src/ops/math/add.c, add\n\n\`\`\`diff
- if (n == 0) return;
+ if (n == 1) return;
\`\`\`

The loop does it too.

## src/ops/math/add.c, sub

\`\`\`diff
- grow(2);
+ grow(3);
\`\`\`
`);
  const mutant = (name, before, after) => ({
    file: 'src/ops/math/add.c',
    function: name,
    change: { before, after },
  });

  it('has a mutant by its file, function and changed lines', () => {
    assert.ok(list.has(mutant('add', 'if (n == 0) return;', 'if (n == 1) return;')));
    assert.ok(list.has(mutant('sub', 'grow(2);', 'grow(3);')));
  });

  it('has no other change of the same line, nor the same change elsewhere', () => {
    assert.ok(!list.has(mutant('add', 'if (n == 0) return;', 'if (n != 0) return;')));
    assert.ok(!list.has(mutant('add', 'grow(2);', 'grow(3);')));
  });
});
