"""Writes the tokeniser's expected answers: `python golden.py VOCAB.txt > ../crates/toolcrib-vectors/tests/it/golden.json`.

The reference tokeniser answers 200 strings over the pieces they need of the encoder's own vocabulary, which unlike the
table's holds other scripts and punctuation too. A text may be given as a unit and how often it repeats.
"""

import json
import random
import sys

from words import read_rows, splitter, tokenizer

WRITTEN = [
    "", " ", "\t\r\n", "close the stale PR", "update_pull_request", "getUserByID", "HTTPServerError", "parseURLs for APIs",
    "mcp__github__create_issue", "GitHub JavaScript YouTube", "S3Bucket ec2 oauth2 sha256sum v1Beta2", "k8s-pod.v2/list",
    "Crème Brûlée à la carte", "naïve façade résumé Ångström", "ÀÉÎÕÜ ÿ Ø æ ß ẞ", "İstanbul ıspanak", "ﬁne ﬂow ﬀ",
    "e\u0301cole versus école", "a\u0301\u0323b\u0308", "\u0301lone mark", "北京天气预报", "获取 GitHub 仓库 list", "東京タワーの天気",
    "カタカナ ｶﾀｶﾅ", "서울 날씨 알려줘", "Погода в Москве", "Ёлка й", "Καλημέρα κόσμε ς", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया",
    "สวัสดีชาวโลก", "🙂", "send 📧 to Bob 🚀🚀", "👩‍👩‍👧‍👦 family", "flag 🇩🇪 end", "✅done❌", "tab\tnew\nline\rreturn", "nul\x00in\x00side",
    "bell\x07 esc\x1b[31mred\x1b[0m", "del\x7fete", "\ufffdreplacement\ufffd", "zero\u200bwidth\u200djoin", "soft\xadhyphen", "\ufeffbom",
    "nbsp\xa0here\u2003em\u3000ideographic", "line\u2028sep\u2029para\x85nel", "private\ue000use", "«quoted» „low‟ ‹single›",
    "em—dash en–dash hy‐phen", "¿qué? ¡hola!", "50% off $5 €10 £3 ¥7", "a+b=c <tag> ~x^y `code` |pipe|", "x" * 99, "x" * 100, "x" * 101,
    "don't can't it's", "C++ C# F# .NET node.js", "foo--bar__baz..qux", "____", "- -- . _ * ** [a-z]+ (.*)? \\d{2,3} ^$", "1,234.56 10:30am 2024-01-31",
    "http://example.com/a?b=c&d=%20", "user@example.com", "../../etc/passwd", "SELECT * FROM users WHERE id=1; DROP TABLE x;", "{\"json\": [1, null, true]}",
    "ＦＵＬＬＷＩＤＴＨ　ｔｅｘｔ１２３", "①②③ ⅣⅨ ½ ²", "ℌ𝔢𝔩𝔩𝔬 𝓌ℴ𝓇𝓁𝒹", "㍿ ㎏ ﷺ", "豈更車 compatibility", "𠀀𪜀 rare", "Å K Ω signs", "ǅ ǆ Ǳ", "שּׁ בָּ", "한\u1112\u1161\u11ab",
    "\u037e greek question", "१२३ ٤٥٦", "a\u0345b ͅ", "ŒUVRE œuvre", "Þórr ðis", "ŁÓDŹ łódź", "Đà Nẵng phở", "aA aAA AAa AAAa AsA URLs URLsx IDs IDsX",
    "iOS macOS eBay iPhone", "XMLHttpRequest", "ABCDef2GHIj", "a1B2c3D4", "éGetUser getUseré", "getUser\x00Name", "get\u200bUser", "CamelCase_snake_case-kebab-case.dot",
]
REPEATED = [("get the weather ", 6400), ("x", 100_000), ("a_", 50_000), ("天气", 17_000), ("\u0301", 50_000), ("🙂 ", 20_000), ("getUserName", 9_000), ("\x00", 100_000)]
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCabcXYZxyz0189__--  ", "éèüñçÅøßÀ aeiou", "天地玄黄 宇宙 abc", " .,;:!?()[]{}<>\"'/\\|@#$%^&*-=+~`ab",
    "абвгдеёж αβγδς אבג", "ぁあカキー漢字 한글", "🙂🚀✅❌ ab\u200d\ufe0f", "\x00\x01\x1f\x7f\xa0\u200b\u2028\ufffd ab", "aGetHTTPsID2x",
]


def main():
    vocabulary = read_rows(sys.argv[1])
    rng = random.Random(11)
    texts = list(WRITTEN)
    while len(texts) < 192:
        letters = "".join(rng.sample(ALPHABETS, rng.choice((1, 1, 2, 3))))
        texts.append("".join(rng.choice(letters) for _ in range(rng.randint(1, 60))))
    units = [(t, 1) for t in texts] + REPEATED

    def answers(pieces):
        split, cut = splitter(set(pieces)), tokenizer(pieces)
        return [cut.encode(split(unit * many)).tokens for unit, many in units]

    used = {piece for found in answers(vocabulary) for piece in found} - {"[UNK]"}
    pieces = [v for i, v in enumerate(vocabulary) if v in used or i % 97 == 0 and not v.startswith("[")]
    cases = []
    for (unit, many), found in zip(units, answers(pieces)):
        found = [None if piece == "[UNK]" else piece for piece in found]
        case = {"text": unit, "times": many, "count": len(found), "pieces": found[:60], "last": found[-3:]}
        cases.append(json.dumps(case))
    print('{"vocabulary": ' + json.dumps(pieces) + ',\n"cases": [\n' + ",\n".join(cases) + "\n]}")


if __name__ == "__main__":
    main()
