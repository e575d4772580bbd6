# SPDX-License-Identifier: BSD-3-Clause
"""The protocol's C++ as gem5's SLICC writes it, made to compile with `ruby.h` in place of gem5's headers."""

import re
from pathlib import Path
from typing import Any

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_OF_EACH_FILE = ("GET_TRANSITION_COMMENT", "CLEAR_TRANSITION_COMMENT", "APPEND_TRANSITION_COMMENT", "HASH_FUN")
"""Macros that each generated file defines for itself; all files are compiled as one."""


def write(slicc: Any, machines: list[Any], folder: Path) -> None:
    """Fill ``folder`` with SLICC's files, a header for each that they want, and protocol.cc, which includes all of them."""
    code = folder / "mem" / "ruby" / "protocol"
    code.mkdir(parents=True)
    slicc.writeCodeFiles(str(code), [])
    for machine in machines:
        _write_parameters(machine, folder)
    for path in sorted(code.iterdir()):
        text = path.read_text(encoding="utf-8")
        for wanted in _INCLUDE.findall(text):
            header = folder / wanted
            if not header.exists():
                header.parent.mkdir(parents=True, exist_ok=True)
                header.write_text('#include "tests/protocol/stand_in/ruby.h"\n', encoding="utf-8")
        if path.name.endswith("_Controller.hh"):  # the tester looks at what a controller has open at the end
            path.write_text(text.replace("private:", "public:"), encoding="utf-8")
    undefine = "".join(f"#undef {macro}\n" for macro in _OF_EACH_FILE)
    sources = "".join(f'{undefine}#include "mem/ruby/protocol/{path.name}"\n' for path in sorted(code.glob("*.cc")))
    (folder / "protocol.cc").write_text(f'#include "tests/protocol/stand_in/ruby.h"\n{sources}', encoding="utf-8")


def _write_parameters(machine: Any, folder: Path) -> None:
    """What gem5 makes of a controller's Python class."""
    name = f"{machine.ident}_ControllerParams"
    fields = "".join(
        f"    {parameter.type_ast.type.c_ident} {'*' if parameter.pointer else ''}{parameter.ident}{{}};\n"
        for parameter in machine.config_parameters
    )
    header = folder / "params" / f"{machine.ident}_Controller.hh"
    header.parent.mkdir(exist_ok=True)
    header.write_text(
        f'#pragma once\n#include "tests/protocol/stand_in/ruby.h"\nnamespace gem5::ruby {{\n'
        f"struct {name} : RubyControllerParams {{\n{fields}}};\n}}\nnamespace gem5 {{\nusing ruby::{name};\n}}\n",
        encoding="utf-8",
    )
