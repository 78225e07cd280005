"""The smallest instance of each peer's model, kept as a file to be read: `python -m benchmarks.peers.write`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers import (
    murphi_multicast,
    murphi_om,
    murphi_paxos,
    murphi_storage,
    murphi_thesis_paxos,
    promela_gandalf,
    promela_lock,
    promela_multicast,
    promela_om,
    promela_paxos,
    promela_storage,
)
from benchmarks.peers.setting import Setting

MODELS = Path(__file__).parent.parent / "models"


def texts() -> dict[str, str]:
    return {
        "paxos-messages.pml": promela_paxos.model("messages", 2, 3),
        "paxos-packed.pml": promela_paxos.model("packed", 2, 3),
        "gandalf.pml": promela_gandalf.model(2, 3, 6, 2),
        "paxos.m": murphi_paxos.model(2, 3),
        "om.pml": promela_om.model(3),
        "om.m": murphi_om.model(3),
        "thesis-paxos.m": murphi_thesis_paxos.model(),
        "thesis-om.m": murphi_om.model(3, single=True),
        "multicast.pml": promela_multicast.model(Setting(3, 1, 1, 1)),
        "multicast.m": murphi_multicast.model(Setting(3, 1, 1, 1)),
        "storage.pml": promela_storage.model(3),
        "lock.pml": promela_lock.model(2),
        "storage.m": murphi_storage.model(3),
    }


if __name__ == "__main__":
    for name, text in texts().items():
        (MODELS / name).write_text(text)
