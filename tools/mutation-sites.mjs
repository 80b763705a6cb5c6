// Finds the places at which a change of a C source should make a test fail, and the changes, which
// mutants.mjs tries one at a time.
//
//   sitesOf('int twice(int x) {\n  return x + x;\n}\n')
//     -> [{ function: 'twice', kind: 'arithmetic', start: 30, end: 31, texts: ['-'] }]
//
// Only bodies of functions are changed. Declarations at file level are not changed: enums, tables, the
// definitions of ops with their function text. Neither are comments, strings, preprocessor lines, floating
// and hexadecimal numbers, and the sizes of declared arrays, because a larger array is not a defect. The
// sources must be formatted by .clang-format: a function ends with a brace at the beginning of a line, and an
// operator between two operands has spaces on both sides.

/** The replacements of tokens. */
const CHANGES = {
  relational: {
    '<': ['<=', '>='],
    '<=': ['<', '>'],
    '>': ['>=', '<='],
    '>=': ['>', '<'],
    '==': ['!='],
    '!=': ['=='],
  },
  arithmetic: {
    '+': ['-'],
    '-': ['+'],
    '*': ['/'],
    '/': ['*'],
    '+=': ['-='],
    '-=': ['+='],
    '*=': ['/='],
    '/=': ['*='],
  },
  logical: { '&&': ['||'], '||': ['&&'] },
  not: { '!': [''] },
  step: { '++': ['--'], '--': ['++'] },
  boolean: { true: ['false'], false: ['true'] },
  jump: { break: ['continue'], continue: ['break'] },
};
const LARGEST_LITERAL = 1024;
const TOKENS =
  /(?<space>\s+|\/\*[^]*?\*\/|\/\/[^\n]*)|(?<word>[A-Za-z_]\w*)|(?<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?<text>"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*')|(?<mark>->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||\.\.\.|[^])/gy;
const DIRECTIVE = /^[ \t]*#(?:\\\r?\n|\/\*[^]*?\*\/|[^\n])*/gm;

/** The tokens of a source, without comments and preprocessor lines. `from` and `to` are offsets. */
function tokensOf(source) {
  /* No comment or text in these sources has a # at the beginning of a line. */
  const code = source.replace(DIRECTIVE, (line) => line.replace(/[^\n]/g, ' '));
  const tokens = [];
  for (const match of code.matchAll(TOKENS)) {
    const { space, word, number, text } = match.groups;
    if (space !== undefined) continue;
    const kind =
      word !== undefined ? 'word' : number !== undefined ? 'number' : text !== undefined ? 'text' : 'mark';
    tokens.push({ kind, text: match[0], from: match.index, to: match.index + match[0].length });
  }
  return tokens;
}

/** For each opening bracket the index of the closing one, and vice versa. */
function pairsOf(tokens) {
  const pairs = new Map();
  const open = [];
  tokens.forEach(({ kind, text }, i) => {
    if (kind !== 'mark') return;
    if ('([{'.includes(text)) open.push(i);
    if (')]}'.includes(text) && open.length > 0) {
      const start = open.pop();
      pairs.set(start, i).set(i, start);
    }
  });
  return pairs;
}

/** The bodies of functions: their names, and the indices of the braces. */
function bodiesOf(source, tokens, pairs) {
  const bodies = [];
  const columnOf = ({ from }) => from - (source.lastIndexOf('\n', from - 1) + 1);
  for (let i = 1; i < tokens.length; i++) {
    if (tokens[i].text !== '{' || tokens[i - 1].text !== ')') continue;
    const close = pairs.get(i);
    const oneLine = close !== undefined && !source.slice(tokens[i].from, tokens[close].from).includes('\n');
    /* Branches of the preprocessor may open a brace twice: the end of a function of several lines is found by
     * the column. */
    const end = oneLine
      ? close
      : tokens.findIndex((token, k) => k > i && token.text === '}' && columnOf(token) === 0);
    if (end === -1) break;
    let name = (pairs.get(i - 1) ?? 0) - 1;
    if (tokens[name]?.text === ')') name = pairs.get(name) + 1; /* NAME(add)(...) */
    bodies.push({ name: tokens[name]?.text ?? '', first: i, last: end });
    i = end;
  }
  return bodies;
}

const HEADS = new Set(['if', 'for', 'while', 'switch']);
const NO_EXPRESSION = new Set([
  'if',
  'for',
  'while',
  'switch',
  'do',
  'else',
  'case',
  'default',
  'goto',
  'break',
  'continue',
  'typedef',
  'const',
  'static',
  'struct',
  'union',
  'enum',
  'unsigned',
  'signed',
  'volatile',
  '_Static_assert',
]);

/** True if a statement can begin after token i: not inside of brackets, which `inBrackets` tells. */
function endsStatement(tokens, pairs, i) {
  const { text } = tokens[i];
  if (text === ';' || text === '{' || text === '}' || text === 'else' || text === 'do') return true;
  if (text === ')') return HEADS.has(tokens[pairs.get(i) - 1]?.text);
  if (text !== ':') return false;
  return tokens[i - 1].text === 'default' || tokens[i - 2]?.text === 'case';
}

/** True when the statement that begins at token i declares something. */
function isDeclaration(tokens, i) {
  if (
    ['const', 'static', 'struct', 'union', 'enum', 'unsigned', 'signed', 'volatile', 'typedef'].includes(
      tokens[i].text,
    )
  )
    return true;
  let k = i + 1;
  while (tokens[k]?.text === '*') k++;
  return (
    tokens[i].kind === 'word' &&
    tokens[i].text !== 'return' &&
    !NO_EXPRESSION.has(tokens[i].text) &&
    tokens[k]?.kind === 'word'
  );
}

/** The index of the semicolon that ends the statement at token i, or undefined. */
function endOfStatement(tokens, pairs, i, last) {
  for (let k = i; k < last; k++) {
    const { text } = tokens[k];
    if (text === ';') return k;
    if (text === '(' || text === '[' || text === '{') k = pairs.get(k) ?? last;
    else if (text === ')' || text === ']' || text === '}') return undefined;
  }
  return undefined;
}

/** Marks in `sizes` the brackets of the arrays declared from `first` to `end`. */
function markArraySizes(tokens, pairs, first, end, sizes) {
  let value = false;
  for (let k = first; k < end; k++) {
    const { text } = tokens[k];
    if (text === '=') value = true;
    if (text === ',') value = false;
    if (!'([{'.includes(text) || !pairs.has(k)) continue;
    if (text === '[' && !value) for (let j = k; j < pairs.get(k); j++) sizes.add(j);
    k = pairs.get(k);
  }
}

/** The sites that are whole statements or conditions, and the tokens that are array sizes. */
function statementsOf(tokens, pairs, { first, last }) {
  const sites = [];
  const sizes = new Set();
  const brackets = [];
  for (let i = first; i < last; i++) {
    const { text } = tokens[i];
    if (text === '(' || text === '[') brackets.push(i);
    if (text === ')' || text === ']') brackets.pop();
    if (text === 'if' && tokens[i + 1].text === '(' && pairs.has(i + 1)) {
      sites.push({
        kind: 'negated',
        start: tokens[i + 1].from,
        end: tokens[pairs.get(i + 1)].to,
        texts: [(condition) => `(!${condition})`],
      });
    }
    if (brackets.length > 0 || !endsStatement(tokens, pairs, i)) continue;
    const end = endOfStatement(tokens, pairs, i + 1, last);
    if (end === undefined || end === i + 1) continue;
    const start = tokens[i + 1];
    if (isDeclaration(tokens, i + 1)) markArraySizes(tokens, pairs, i + 1, end, sizes);
    else if (!NO_EXPRESSION.has(start.text) && start.text !== '}' && start.text !== '{') {
      sites.push({
        kind: /^TRY/.test(start.text) ? 'try' : 'removed',
        start: start.from,
        end: tokens[end].to,
        texts: ['{}'],
      });
    }
  }
  return { sites, sizes };
}

/** The replacements of token i of the source. */
function changeOf(source, tokens, i) {
  const { kind, text, from, to } = tokens[i];
  if (kind === 'number') {
    const [, digits, suffix] = /^(0|[1-9]\d*)([uUlL]*)$/.exec(text) ?? [];
    if (digits === undefined || Number(digits) > LARGEST_LITERAL) return undefined;
    return {
      kind: 'literal',
      texts:
        digits === '0'
          ? [`1${suffix}`]
          : digits === '1'
            ? [`0${suffix}`, `2${suffix}`]
            : [`${Number(digits) + 1}${suffix}`],
    };
  }
  const found = Object.entries(CHANGES).find(([, changes]) => Object.hasOwn(changes, text));
  if (!found || kind === 'text') return undefined;
  const [name, changes] = found;
  if (name === 'arithmetic' && !(/\s/.test(source[from - 1]) && /\s/.test(source[to]))) return undefined;
  return { kind: name, texts: changes[text] };
}

/**
 * The sites of a source, in order: offsets `start` to `end`, and the replacement texts. `kind` is a key of
 * CHANGES, or literal, negated, try, removed.
 */
export function sitesOf(source) {
  const tokens = tokensOf(source);
  const pairs = pairsOf(tokens);
  const all = [];
  for (const body of bodiesOf(source, tokens, pairs)) {
    const { sites, sizes } = statementsOf(tokens, pairs, body);
    for (let i = body.first; i < body.last; i++) {
      const change = sizes.has(i) ? undefined : changeOf(source, tokens, i);
      if (change) sites.push({ ...change, start: tokens[i].from, end: tokens[i].to });
    }
    all.push(
      ...sites.map(({ texts, ...site }) => ({
        function: body.name,
        ...site,
        texts: texts.map((text) =>
          typeof text === 'function' ? text(source.slice(site.start, site.end)) : text,
        ),
      })),
    );
  }
  return all.sort((a, b) => a.start - b.start || a.end - b.end);
}

const oneLine = (text) => text.trim().replace(/\s+/g, ' ');

/**
 * The source with one site replaced, and the lines that this changes: before and after, with white space
 * collapsed.
 */
export function mutate(source, { start, end }, text) {
  const lineStart = source.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = (source.indexOf('\n', end) + source.length + 1) % (source.length + 1);
  return {
    source: source.slice(0, start) + text + source.slice(end),
    line: source.slice(0, start).split('\n').length,
    before: oneLine(source.slice(lineStart, lineEnd)),
    after: oneLine(source.slice(lineStart, start) + text + source.slice(end, lineEnd)),
  };
}

/** The mutants listed in tests/mutants.md: a set whose `has` takes file, function and change. */
export function equivalentsOf(markdown) {
  const keyOf = (file, name, before, after) => [file, name, before, after].join('\0');
  const keys = new Set();
  for (const [, file, name, rest] of markdown.matchAll(/^## (\S+), (\w+)\n([^]*?)(?=^## |(?![^]))/gm)) {
    for (const [, before, after] of rest.matchAll(/^- (.*)\n\+ (.*)$/gm))
      keys.add(keyOf(file, name, before, after));
  }
  return {
    has: (mutant) => keys.has(keyOf(mutant.file, mutant.function, mutant.change.before, mutant.change.after)),
  };
}
