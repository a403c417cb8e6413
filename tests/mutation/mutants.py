# SPDX-License-Identifier: Apache-2.0
"""Small faults in C++ source: every place of a file where an operator applies, and what it puts there.

Reads text, not a syntax tree: clang-format's layout tells ` < ` from a template's bracket and a block from an
initialiser. A mutant that the compiler refuses costs a second, so a wrong guess here is no harm.
Left alone: comments, literals, assertions, preprocessor lines, attributes, noexcept, alignas, template heads, fences;
what hashes are made of, which decides how fast a record is found and never which; and memory orders, which no test on
x86 can see.
"""
import dataclasses
import re

import code_text

UNTOUCHED_CALLS = re.compile(r"\b(?:ARCALLOC_ASSERT|static_assert|assertion_failed|alignas|noexcept)\s*(?=\()")
UNTOUCHED = (re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE),
             re.compile(r"\[\[.*?\]\]", re.DOTALL),
             re.compile(r"\btemplate <[^>]*>"),
             re.compile(r"\boperator\s*[^\s\w]+"),
             re.compile(r"^[^\n;{}]*= *(?:default|delete);", re.MULTILINE),
             re.compile(r"^.*\b(?:hash|bucket_count = \d+;|chains_min = \d+;).*$", re.MULTILINE))

# clang-format puts a blank on both sides of a binary operator, and none at a template's brackets or a reference.
BINARY = {
    "border": {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="]},
    "logic": {"&&": ["||"], "||": ["&&"]},
    "arithmetic": {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "+=": ["-="], "-=": ["+="]},
    "bits": {"<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["|"], "&=": ["|="], "|=": ["&="]},
}
BINARY_TOKEN = re.compile(r"(?<=\s)(<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|&=|\|=|[<>+\-*/%&|^])(?=\s)")
STEP_TOKEN = re.compile(r"\+\+|--")
NOT_TOKEN = re.compile(r"(?<![=!<>])!(?=[\w(*:])|(?:(?<=[=&|] )|(?<=\())~(?=[\w(])")  # not a destructor's
NUMBER = re.compile(r"(?<![\w.'])(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.'])")
BOOLEAN = re.compile(r"\b(true|false)\b")
CONDITION = re.compile(r"\b(if|while|for) (?=\()")
RETURN = re.compile(r"\breturn\b")
PREFIX = re.compile(r"(?:\(void\))?(?:\+\+|--|\*)?")
NAME = re.compile(r"(?:::)?[A-Za-z_][\w:]*")
MEMBER = re.compile(r"(?:\.|->)[A-Za-z_]\w*")
ASSIGNS = re.compile(r"\s*(?:=(?!=)|[+\-*/%&|^]=|<<=|>>=)")
NO_EXPRESSION = re.compile(r"(?:return|using|goto|delete|typedef|static|const|constexpr|auto|case|struct|class|enum|"
                           r"extern|friend|explicit|inline|namespace|throw)\b")
LABEL = re.compile(r"\s*(?:(?:case\s[^:;{}]*(?:::[^:;{}]*)*|default|public|private)\s*:(?!:)|else\b)")
EXPECTED_VALUE = {"status::ok": "status::backend_failed", "ARCALLOC_OK": "ARCALLOC_BACKEND_FAILED"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`before` at `offset` of `file` becomes `after`."""
    file: str
    line: int
    column: int
    offset: int
    operator: str
    before: str
    after: str

    def apply(self, source):
        assert source.startswith(self.before, self.offset), f"{self.file}:{self.line}: not the source this was made from"
        return source[:self.offset] + self.after + source[self.offset + len(self.before):]

    def key(self):
        return [self.file, self.line, self.column, self.operator, self.before, self.after]


def code_of(source):
    """The text with everything blanked that no operator may touch; offsets stay."""
    code = code_text.without_comments_and_literals(source)

    def blank(first, last):
        return code[:first] + re.sub(r"[^\n]", " ", code[first:last]) + code[last:]
    for pattern in UNTOUCHED:
        for match in list(pattern.finditer(code)):
            code = blank(match.start(), match.end())
    for match in list(UNTOUCHED_CALLS.finditer(code)):
        code = blank(match.start(), closing(code, match.end()) + 1)
    return code


def closing(code, at):
    """The offset of the bracket that closes the one at `at`."""
    pairs, depth = {"(": ")", "[": "]", "{": "}"}, 0
    opened, closed = code[at], pairs[code[at]]
    for place in range(at, len(code)):
        depth += (code[place] == opened) - (code[place] == closed)
        if depth == 0:
            return place
    return len(code) - 1


def is_expression(text):
    """True where the statement can be left out: a call, an assignment, a step, a jump out of a loop."""
    text = text.strip()
    if text in ("break", "continue"):
        return True
    if not text or NO_EXPRESSION.match(text) or "fence(" in text:
        return False
    prefix = PREFIX.match(text).group(0)
    rest = text[len(prefix):]
    head = NAME.match(rest)
    if head is None and not rest.startswith("("):
        return False
    rest = rest[head.end():] if head else rest
    called = False
    while rest:
        if rest[0] in "([":
            called = rest[0] == "("
            rest = rest[closing(rest, 0) + 1:]
            continue
        member = MEMBER.match(rest)
        if member is None:
            break
        called, rest = False, rest[member.end():]
    if rest == "":
        return called or prefix.endswith(("++", "--"))
    return bool(ASSIGNS.match(rest)) or rest in ("++", "--")


def statements(code):
    """Yields (first, last) of the statements of every block that could be left out, without the semicolon."""
    start, place = 0, 0
    while place < len(code):
        character = code[place]
        label = LABEL.match(code, start) if not code[start:place].strip() else None
        if label and label.end() > place:
            start = place = label.end()
            continue
        if character == "(":
            headed = re.search(r"\b(?:if|for|while|switch)(?: constexpr)?\s*$", code[start:place])
            place = closing(code, place) + 1
            if headed:
                start = place
            continue
        if character == "{":
            before = code[:place].rstrip()
            initialises = code[place - 1] not in " \n" or before[-1:] in "=,(?" or before.endswith("return")
            if initialises:
                place = closing(code, place) + 1
                continue
        if character == ";" and is_expression(code[start:place]):
            first = start + len(code[start:place]) - len(code[start:place].lstrip())
            yield first, place
        if character in ";{}":
            start = place + 1
        place += 1


def conditions(code):
    """Yields (keyword, first, last) of each condition, without what an `if` or a `for` declares before it."""
    for match in CONDITION.finditer(code):
        end = closing(code, match.end())
        parts, first, depth = [], match.end() + 1, 0
        for place in range(first, end):
            depth += (code[place] in "([{") - (code[place] in ")]}")
            if code[place] == ";" and depth == 0:
                parts.append((first, place))
                first = place + 1
        parts.append((first, end))
        if match.group(1) == "for" and len(parts) != 3:
            continue  # over a range
        first, last = parts[1] if match.group(1) == "for" else parts[-1]
        yield match.group(1), first + len(code[first:last]) - len(code[first:last].lstrip()), last


def returns(code):
    """Yields (first, last) of the value of each return."""
    for match in RETURN.finditer(code):
        depth, place = 0, match.end()
        while place < len(code) and (code[place] != ";" or depth > 0):
            depth += (code[place] in "([{") - (code[place] in ")]}")
            place += 1
        first = match.end() + len(code[match.end():place]) - len(code[match.end():place].lstrip())
        if first < place:
            yield first, place


def replacements(code):
    """Yields (operator, first, last, after) for every place and every operator."""
    for match in BINARY_TOKEN.finditer(code):
        for operator, table in BINARY.items():
            for after in table.get(match.group(1), ()):
                yield operator, match.start(), match.end(), after
    for match in STEP_TOKEN.finditer(code):
        yield "arithmetic", match.start(), match.end(), "--" if match.group(0) == "++" else "++"
    for match in NOT_TOKEN.finditer(code):
        yield "logic" if match.group(0) == "!" else "bits", match.start(), match.end(), ""
    for match in NUMBER.finditer(code):
        digits = match.group(1)
        is_octal = digits.startswith("0") and digits.isdecimal()
        value = int(digits, 8 if is_octal else 0)
        for changed in (value + 1, value - 1):
            if changed >= 0:
                yield "constant", match.start(), match.end(), str(changed) + match.group(2)
    for match in BOOLEAN.finditer(code):
        yield "constant", match.start(), match.end(), "false" if match.group(1) == "true" else "true"
    for keyword, first, last in conditions(code):
        # A loop whose condition is always true is a hang, and says nothing.
        for after in ("false", "true") if keyword == "if" else ("false",):
            yield "condition", first, last, after
    for first, last in returns(code):
        value = code[first:last].strip()
        if value not in ("{}", "nullptr", "true", "false", "0"):
            yield "return", first, last, EXPECTED_VALUE.get(value, "{}")
    for first, last in statements(code):
        yield "statement", first, last, "\n" * code[first:last].count("\n")


def mutants_of(file, source):
    """Every mutant of one file, in order of place."""
    code = code_of(source)
    found = []
    for operator, first, last, after in replacements(code):
        before = source[first:last]
        lines = before.count("\n") - after.count("\n")
        line_start = source.rfind("\n", 0, first) + 1
        found.append(Mutant(file, source.count("\n", 0, first) + 1, first - line_start + 1, first, operator, before,
                            after + "\n" * max(0, lines)))
    return sorted(set(found), key=lambda mutant: (mutant.offset, mutant.key()[3:]))


def lines_of_code(source):
    return sum(1 for line in code_of(source).splitlines() if line.strip())
