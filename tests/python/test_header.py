# SPDX-License-Identifier: Apache-2.0
"""arcalloc.c against the headers: a C compiler is given one static assertion for each size, offset and value; types,
prototypes and the lists of names are compared with the text. `ARCALLOC_INCLUDE` is the headers' directory, `CC` the
compiler, else cc."""
import ctypes
import os
import pathlib
import re
import subprocess
import unittest

from arcalloc import c

INCLUDE = pathlib.Path(os.environ["ARCALLOC_INCLUDE"])
INTEGERS = {"uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64, "int32_t": ctypes.c_int32,
            "size_t": ctypes.c_size_t, "int": ctypes.c_int, "uint8_t": ctypes.c_uint8}
OPAQUE = {"arcalloc_device": c.DevicePointer, "arcalloc_allocator": c.AllocatorPointer,
          "arcalloc_profile": c.ProfilePointer}
SINKS = {"arcalloc_text_sink": c.TextSink, "arcalloc_diagnostic_sink": c.DiagnosticSink}
NO_CONSTANTS = {"ARCALLOC_API", "ARCALLOC_NOEXCEPT", "ARCALLOC_ARCALLOC_H", "ARCALLOC_COUNTERS_H",
                "ARCALLOC_RECORDING_H", "ARCALLOC_RECORDING_NOEXCEPT"}


def headers():
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((INCLUDE / "arcalloc").glob("*.h")))
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


class Header:
    """What the headers declare, with each type as the ctypes type that stands for it."""

    def __init__(self, text):
        self.integers = dict(INTEGERS)
        for base, name in re.findall(r"typedef (u?int\d+_t) (arcalloc_\w+);", text):
            self.integers[name] = INTEGERS[base]
        found = re.findall(r"typedef struct (\w+) \{(.*?)\} \w+;", text, re.DOTALL)
        self.structs = {name: self.fields(body) for name, body in found}
        prototypes = re.findall(r"ARCALLOC_API\s+([\w ]+?[\s*]+)(arcalloc_\w+)\s*\(([^()]*)\)\s*ARCALLOC_NOEXCEPT", text)
        self.functions = {name: (self.type(result), self.arguments(given)) for result, name, given in prototypes}
        sinks = re.findall(r"typedef (\w+) \(\*(arcalloc_\w+)\)\(([^()]*)\);", text)
        self.sinks = {name: (self.type(result), self.arguments(given)) for result, name, given in sinks}
        self.constants = set(re.findall(r"\bARCALLOC_[A-Z0-9_]+\b", text)) - NO_CONSTANTS
        self.declared = text.count("ARCALLOC_API") - text.count("define ARCALLOC_API")

    def fields(self, body):
        """(name, type) of each; a function's type is its result and its arguments."""
        found = []
        for field in filter(None, (part.strip() for part in body.split(";"))):
            field = field.removesuffix("ARCALLOC_RECORDING_NOEXCEPT").rstrip()
            function = re.fullmatch(r"(\w+)\s+\(\*(\w+)\)\((.*)\)", field, re.DOTALL)
            several = re.fullmatch(r"(\w+) (\w+)\[(\d+)\]", field)
            if function:
                result, name, given = function.groups()
                found.append((name, (self.type(result), self.arguments(given))))
            elif several:
                kind, name, count = several.groups()
                found.append((name, self.type(kind) * int(count)))
            else:
                kind, name = re.fullmatch(r"(.*?)(\w+)", field, re.DOTALL).groups()
                found.append((name, self.type(kind)))
        return found

    def arguments(self, given):
        if given.strip() == "void":
            return []
        return [self.type(re.fullmatch(r"\s*(.*?)\w+\s*", one, re.DOTALL).group(1)) for one in given.split(",")]

    def type(self, text):
        name, stars = re.subn(r"\*", "", re.sub(r"\bconst\b", "", text))
        name = name.strip()
        if stars == 0:
            return None if name == "void" else self.integers.get(name) or SINKS.get(name) or c.STRUCTS[name]
        known = {"void": ctypes.c_void_p, "char": ctypes.c_char_p, **OPAQUE}
        kind = known.get(name) or ctypes.POINTER(self.integers.get(name) or c.STRUCTS[name])
        for _ in range(stars - 1):
            kind = ctypes.POINTER(kind)
        return kind


def compiled(claims):
    """What the compiler says about a program with these claims; empty when it takes them."""
    program = "#include <arcalloc/arcalloc.h>\n" + "".join(f'_Static_assert({claim}, "differs");\n' for claim in claims)
    done = subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-fsyntax-only", "-x", "c", "-I", INCLUDE, "-"],
                          input=program, capture_output=True, text=True)
    if (done.returncode == 0) != (done.stderr == ""):
        raise AssertionError(f"the compiler ends with {done.returncode} and says {done.stderr!r}")
    return done.stderr


class TheHeader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.header = Header(headers())

    def test_every_struct_has_the_fields_of_the_header(self):
        self.assertEqual(self.header.structs.keys(), c.STRUCTS.keys())
        for name, fields in self.header.structs.items():
            ours = [(field, (kind._restype_, list(kind._argtypes_))
                     if issubclass(kind, ctypes._CFuncPtr) and kind not in SINKS.values() else kind)
                    for field, kind in c.STRUCTS[name]._fields_]
            self.assertEqual(ours, fields, name)

    def test_every_function_has_the_prototype_of_the_header(self):
        self.assertEqual(len(self.header.functions), self.header.declared)
        self.assertEqual(self.header.functions.keys(), c.FUNCTIONS.keys())
        for name, prototype in self.header.functions.items():
            self.assertEqual(c.FUNCTIONS[name], prototype, name)
        for name, prototype in self.header.sinks.items():
            self.assertEqual((SINKS[name]._restype_, list(SINKS[name]._argtypes_)), prototype, name)
        self.assertEqual(self.header.sinks.keys(), SINKS.keys())

    def test_every_constant_is_here(self):
        self.assertEqual({"ARCALLOC_" + name for name in c.CONSTANTS}, self.header.constants)

    def test_sizes_offsets_and_values_are_what_the_compiler_says(self):
        claims = [f"(uint64_t)ARCALLOC_{name} == UINT64_C({value})" for name, value in c.CONSTANTS.items()]
        for name, struct in c.STRUCTS.items():
            claims.append(f"sizeof({name}) == {ctypes.sizeof(struct)}")
            for field, _ in struct._fields_:
                at = getattr(struct, field)
                claims.append(f"offsetof({name}, {field}) == {at.offset}")
                claims.append(f"sizeof((({name}*)0)->{field}) == {at.size}")
        self.assertGreater(len(claims), 250)
        self.assertEqual(compiled(claims), "")

    def test_a_difference_is_noticed(self):
        self.assertIn("differs", compiled(["sizeof(arcalloc_options) == 8"]))
        self.assertIn("differs", compiled(["ARCALLOC_DOUBLE_FREE == 6"]))
        other = Header("typedef struct arcalloc_block { void* address; uint64_t record; } arcalloc_block;")
        self.assertNotEqual(other.structs["arcalloc_block"], self.header.structs["arcalloc_block"])


if __name__ == "__main__":
    unittest.main()
