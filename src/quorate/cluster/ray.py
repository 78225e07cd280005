"""Ray: the one that is there, or one that is started on this machine and ends with whoever asked for it.

Imported when it is used: it is an extra, and takes seconds.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from dataclasses import dataclass
from typing import Any

from quorate.cluster.errors import ClusterError

_SETTINGS = b"\x04"
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
"""How HTTP/2 begins, which Ray speaks: the first thing that is answered are settings (RFC 9113, section 3.4)."""

REACHED_WITHIN = 5.0
"""Seconds after which a cluster that does not answer is not there."""


@dataclass(frozen=True)
class Ray:
    """A Ray that can be used."""

    api: Any
    workers: int
    machines: int
    where: str
    """What is told of it."""
    is_ours: bool

    @classmethod
    def started(cls, workers: int | None, address: str | None) -> Ray:
        """For so many workers; without a number, as many as there are CPUs."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            import ray
            import ray.exceptions
        except ImportError as error:
            raise ClusterError(
                f"workers need Ray, which cannot be imported: {error}", hint="pip install 'quorate[cluster]'"
            ) from None
        is_ours = not ray.is_initialized()
        if is_ours:
            _start(ray, workers, address)
        try:
            there = int(ray.cluster_resources().get("CPU", 0))
            size = workers or max(1, there)
            if size > there:
                raise ClusterError(
                    f"workers={size}, and the cluster has {there} CPUs",
                    hint=f"ask for at most {there} workers, or add machines to the cluster",
                )
            nodes = len([node for node in ray.nodes() if node["Alive"]])
            where = f"on {nodes} nodes" if nodes > 1 else "on this machine" if address is None else "on one node"
        except BaseException:
            if is_ours:
                ray.shutdown()
            raise
        return cls(ray, size, max(1, nodes), where, is_ours)

    def end(self) -> None:
        if self.is_ours:
            self.api.shutdown()


def _require_listener(place: str) -> None:
    """ConnectionError unless somebody listens there who may be Ray. It would try for minutes, in lines of its own."""
    host, _, port = place.removeprefix("ray://").rpartition(":")
    if place == "auto" or not port.isdecimal():
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=REACHED_WITHIN) as there:
            if os.environ.get("RAY_USE_TLS") not in ("1", "true"):
                there.sendall(_PREFACE)
                answer = there.recv(9, socket.MSG_WAITALL)
                if answer[3:4] != _SETTINGS:
                    raise ConnectionError("who listens there is not Ray")
    except TimeoutError:
        raise ConnectionError("no answer from there") from None
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None)
        raise ConnectionError(f"nobody listens there ({why})" if why else str(error)) from None


def _start(ray: Any, workers: int | None, address: str | None) -> None:
    handlers = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    logging.getLogger("ray").setLevel(logging.ERROR)
    stopped = False
    quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": False}
    try:
        if address is not None:
            place = address if address == "auto" or ":" in address else f"{address}:6379"
            _require_listener(place)
            ray.init(address=place, **quiet)
        else:
            ray.init(
                address="local",
                num_cpus=max(workers or 0, os.cpu_count() or 1),
                include_dashboard=False,
                object_store_memory=256 << 20,
                _system_config={"memory_monitor_refresh_ms": 0},  # --max-memory says what is too much
                **quiet,
            )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        how = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if address is not None:
            raise ClusterError(f"address={address!r}: {how}", hint="is `ray start --head` running there?") from None
        raise ClusterError(f"Ray does not start: {how}", hint="`ray start --head` may say more") from None
    except SystemExit as error:
        if error.code != signal.SIGTERM:
            raise
        stopped = True
    finally:
        if threading.current_thread() is threading.main_thread():
            for each, handler in handlers.items():
                if handler is not None:
                    signal.signal(each, handler)  # Ray takes SIGTERM for itself
    if stopped:
        ray.shutdown()
        signal.raise_signal(signal.SIGTERM)  # for whoever had it before
        raise KeyboardInterrupt
