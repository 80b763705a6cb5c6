"""Writes src/ops/strings/unicode_tables.c: what TensorFlow (ICU and RE2) answers for every code point.

Runs of code points with the same answer are encoded in bytes; src/ops/strings/unicode.h explains them.
"""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cs".split()
NAMES = """Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi
Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot
Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic
Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic
Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script
Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean
Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani
Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic
Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong
Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting
Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa
Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square""".split()

POINTS = np.array([c for c in range(0x110000) if not 0xD800 <= c < 0xE000], np.int32)
TEXTS = tf.constant([chr(c).encode() for c in POINTS])


def matches(name):
    try:
        return tf.strings.regex_full_match(TEXTS, r"\p{%s}" % name).numpy()
    except tf.errors.InvalidArgumentError:
        return None


def categories():
    found = np.zeros(0x110000, np.int64)
    found[0xD800:0xE000] = CATEGORIES.index("Cs")
    for number, name in enumerate(CATEGORIES):
        hits = matches(name) if name not in ("Cn", "Cs") else None
        if hits is not None:
            found[POINTS[hits]] = number
    return found


def varint(number):
    out = []
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return [*out, number]


def runs(values):
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    return [(int(end - start), int(values[start])) for start, end in zip(starts, np.r_[starts[1:], len(values)])]


def category_bytes():
    out = []
    for length, value in runs(categories()):
        out += [value | length << 5] if length < 8 else [value, *varint(length)]
    return out


def script_bytes():
    found = np.zeros(0x110000, np.int64)
    found[0xD800:0xE000] = 103
    found[POINTS] = tf.strings.unicode_script(POINTS).numpy()
    out = []
    for length, value in runs(found):
        out += [value, *varint(length)]
    names = {}
    for name in NAMES:
        hits = matches(name)
        if hits is not None:
            numbers, counts = np.unique(found[POINTS[hits]], return_counts=True)
            names[name] = int(numbers[counts.argmax()])
    return out, names


def case_mappings(op):
    changed = op(TEXTS, encoding="utf-8").numpy()
    simple, special = {}, {}
    for point, text in zip(POINTS, changed):
        text = text.decode()
        if point and text != chr(point):
            if len(text) == 1:
                simple[int(point)] = ord(text)
            else:
                special[int(point)] = text
    return simple, special


def case_bytes(simple):
    """Runs of (gap, (count - 1) * 2 + (step - 1), offset): points at the same offset and a distance of one or two."""
    out, points, at, last = [], sorted(simple), 0, 0
    while at < len(points):
        offset, best = simple[points[at]] - points[at], (1, 1)
        for step in (1, 2):
            count = 1
            while at + count < len(points) and points[at + count] == points[at] + step * count and simple[points[at + count]] - points[at + count] == offset:
                count += 1
            if count > best[0]:
                best = (count, step)
        count, step = best
        zigzag = offset * 2 if offset >= 0 else -offset * 2 - 1
        out += varint(points[at] - last) + varint((count - 1) * 2 + step - 1) + varint(zigzag)
        last = points[at] + (count - 1) * step
        at += count
    return out


def array(name, values):
    return f"const unsigned char {name}[] = {{{', '.join(map(str, values))}}};\nconst int {name}Size = sizeof {name};\n"


def c_string(text):
    return '"' + "".join(f"\\{byte:03o}" if byte > 126 else chr(byte) for byte in text.encode()) + '"'


def main():
    scripts, names = script_bytes()
    lower, lower_special = case_mappings(tf.strings.lower)
    upper, upper_special = case_mappings(tf.strings.upper)
    assert list(lower_special) == [0x130], lower_special
    with open(os.path.join(ROOT, "src", "ops", "strings", "unicode_tables.c"), "w", encoding="utf-8") as out:
        out.write("/* Written by tests/oracle/unicode_tables.py. */\n#include \"ops/strings/unicode_tables.h\"\n\n")
        out.write(array("kUnicodeCategories", category_bytes()) + "\n" + array("kUnicodeScripts", scripts) + "\n")
        out.write(array("kUnicodeLower", case_bytes(lower)) + "\n" + array("kUnicodeUpper", case_bytes(upper)) + "\n")
        entries = ", ".join(f"{{{point}, {c_string(text)}}}" for point, text in sorted(upper_special.items()))
        out.write(f"const UnicodeSpecial kUnicodeUpperSpecial[] = {{{entries}}};\n")
        out.write("const int kUnicodeUpperSpecialCount = sizeof kUnicodeUpperSpecial / sizeof kUnicodeUpperSpecial[0];\n\n")
        entries = ", ".join(f'{{"{name}", {number}}}' for name, number in sorted(names.items()))
        out.write(f"const UnicodeScriptName kUnicodeScriptNames[] = {{{entries}}};\n")
        out.write("const int kUnicodeScriptNameCount = sizeof kUnicodeScriptNames / sizeof kUnicodeScriptNames[0];\n")


if __name__ == "__main__":
    main()
