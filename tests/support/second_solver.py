"""Another solver than the one that proved something, for certificates."""

from pathlib import Path
from typing import Any

import cvc5


def answer(path: Path, seconds: float = 20.0) -> str:
    """What cvc5 says to a question in SMT-LIB."""
    made: Any = cvc5
    manager = made.TermManager()
    solver = made.Solver(manager)
    solver.setOption("full-saturate-quant", "true")  # instances also where no pattern asks for them
    solver.setOption("tlimit-per", str(int(1000 * seconds)))
    parser = made.InputParser(solver)
    parser.setStringInput(made.InputLanguage.SMT_LIB_2_6, path.read_text(encoding="utf-8"), path.name)
    symbols = parser.getSymbolManager()
    said = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            return said.split()[-1] if said.split() else ""
        said += str(command.invoke(solver, symbols))
