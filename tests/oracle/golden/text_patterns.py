"""Regular expressions."""
import numpy as np

from text import scalar, text

PATTERNS = ['a', 'a*', '', '[a-c]+', '(a|b)*c', '^a', 'a$', r'\bcat\b', r'\B\w', 'x{2,3}', 'x{2,3}?', '(?i)STRASSE|größe', r'\pL+', r'\p{Greek}', r'[\p{P}\s]+', '[[:punct:]]', '[^[:alnum:]]',
            '(?s).', '.', '(?m)^.', r'\d+', r'[^\d]', '(?U)a+', 'a+?', 'a??b', '(?:ab)+', '(?P<n>a)b', r'\Qa.b\E', r'\x41|\x{42}', r'\101', '[]a]', '[^]a]', '[a-]', 'é', r'\p{Lu}', r'\P{L}',
            '(|a)*', '(a*)*b', '(a|ab)(c|bcd)(d*)', 'a{0}', 'a{,2}', '{', r'\.', '(?i)k', '(?i)[k-l]', r'\W', r'[[:^space:]]', '(?i:A)b', r'\z', r'\A', 'x*', '[\u4e00-\u9fff]', r'[\w.]+@\w+', '(?i)ς']
INPUTS = text(b'', b'aab cat', b'xxxxx', 'größe STRASSE'.encode(), b'a.b@c, d!', 'ΑΣς 漢字 é'.encode(), b'abcd', b'l1\nl2 a', b'\xffa\xc3', 'Kk\u212a ſS'.encode(), b'ABBA{')
BAD = ['(', ')', 'a)', '*', '+a', 'a**', 'a*+', '[a', '[z-a]', r'\q', 'a\\', '(?<', '(?P<n', '(?P<1-', 'x{1001}', 'x{100000000}', '(?<n>a)', 'x{2,1}', r'\p{Foo}', '(?z)', '(?i', r'\8', r'\1',
       '(a{100}){100}', '|*', 'a|*', '(*)', 'a{2}{3}', r'\x{110000}', r'\xg', '[', '[]', '(?i-)', '(a', r'\pX', '(?', r'[\q]', '(?=a)', '(?!a)', '(?P=n)']


def cases(golden):
    for pattern in PATTERNS:
        golden.op('RegexReplace', [INPUTS, scalar(pattern.encode()), scalar(b'<\\0>')], name=pattern)
        golden.op('RegexFullMatch', [INPUTS, scalar(pattern.encode())], name=pattern)
    for pattern in PATTERNS[:12]:
        golden.op('StaticRegexReplace', [INPUTS], {'pattern': pattern, 'rewrite': '-'})
        golden.op('StaticRegexFullMatch', [INPUTS], {'pattern': pattern})
        golden.op('RegexReplace', [INPUTS, scalar(pattern.encode()), scalar(b'<\\0>')], {'replace_global': False}, name=pattern)
        golden.op('StaticRegexReplace', [INPUTS], {'pattern': pattern, 'rewrite': '-', 'replace_global': False})
    for pattern, rewrite in [('(a)(b)?', r'\2\1'), ('(a)', r'\\\1\\'), ('(((((((((x)))))))))', r'\8\9'), ('(a)|(c)', r'[\1|\2]'), ('a', r'\\'), ('a', r'x\1'), ('a', 'x\\'), ('a', r'x\zy'), ('x{99999999999}', ''), ('(?P<a>x)(?P<a>y)', '')]:
        golden.op('RegexReplace', [INPUTS, scalar(pattern.encode()), scalar(rewrite.encode())], name=f'{pattern} {rewrite}')
    for pattern in BAD:
        golden.fails('RegexReplace', [INPUTS, scalar(pattern.encode()), scalar(b'')], name=pattern)
    for pattern in BAD[:8]:
        golden.fails('RegexFullMatch', [INPUTS, scalar(pattern.encode())], name=pattern)
        golden.fails('StaticRegexFullMatch', [INPUTS], {'pattern': pattern})
        golden.fails('StaticRegexReplace', [INPUTS], {'pattern': pattern, 'rewrite': ''})
    golden.fails('RegexReplace', [INPUTS, text(b'a'), scalar(b'')])
    golden.fails('RegexReplace', [INPUTS, scalar(b'a'), text(b'')])
    golden.fails('RegexFullMatch', [INPUTS, text(b'a')])
    golden.op('RegexReplace', [np.reshape(INPUTS[:6], (2, 3)), scalar(b'a'), scalar(b'b')])
    golden.op('RegexFullMatch', [text(), scalar(b'a')])
