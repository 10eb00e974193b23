"""Fixtures of all tests, and the fence around them: no test may reach beyond this machine."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Set before any test imports a library that reads them once.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# The tests run side by side, one process a core: more threads would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine may take its time over an example.
settings.register_profile("hermetic", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hermetic")

ROOT = Path(__file__).resolve().parents[1]
INTERNET = (socket.AF_INET, socket.AF_INET6)
# What a server binds to, or a client calls itself. An empty name means "any address of this machine".
OWN_NAMES = ("", "localhost", "localhost.localdomain", "ip6-localhost", "0.0.0.0", "::")


def is_local(host: object) -> bool:
    """Whether a host name or address is this machine's own; only addresses and well-known names are recognised."""
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)
    name = name.lower().rstrip(".").partition("%")[0]
    if name in OWN_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def network_attempts() -> Iterator[list[str]]:
    """Every attempt to reach another machine: refused, and kept here in case that somebody catches the refusal."""
    attempts: list[str] = []

    def refuse(what: str) -> None:
        attempts.append(what)
        raise RuntimeError(f"tests run without a network, but something wanted {what}")

    def fenced(connect: Callable[..., Any]) -> Callable[..., Any]:
        def fenced_connect(self: socket.socket, address: Any) -> Any:
            if self.family in INTERNET and not is_local(address[0]):
                refuse(f"a connection to {address!r}")
            return connect(self, address)

        return fenced_connect

    look_up = socket.getaddrinfo

    def fenced_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_local(host):
            refuse(f"the address of {host!r}")
        return look_up(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", fenced(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", fenced(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", fenced_getaddrinfo)
        yield attempts


@pytest.fixture(autouse=True)
def no_network(network_attempts: list[str]) -> Iterator[None]:
    """Fail a test during which something tried to reach another machine, even if the refusal was swallowed."""
    yield
    found = "; ".join(network_attempts)
    network_attempts.clear()
    if found:
        pytest.fail(f"tests run without a network, but something wanted {found}")


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Vectors computed by tests go to a folder that is thrown away, unless somebody names one."""
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("ECOMRLVE_CACHE"):
            patch.setenv("ECOMRLVE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def catalog() -> Any:
    """The default catalog."""
    from ecomrlve.catalog.synthetic import generate

    return generate()


@pytest.fixture(scope="session")
def words_engine(catalog: Any) -> Any:
    """A search engine over the default catalog that goes by words alone: there in a second."""
    from ecomrlve.catalog.search import SearchEngine

    return SearchEngine(catalog)


@pytest.fixture(scope="session")
def engine() -> Any:
    """The engine that people get, with sentence vectors. Where these are not shipped, computing them takes minutes."""
    from ecomrlve.environment import default_engine

    return default_engine()


@pytest.fixture(scope="session")
def new_world(words_engine: Any) -> Callable[..., Any]:
    """Makes worlds without a task around them. Axes are given by name: `new_world(d=3, distractors=0.2)`."""
    from ecomrlve.difficulty import difficulty
    from ecomrlve.shop.world import Setting, World

    def make(
        seed: int = 0,
        *,
        d: int = 0,
        variant_share: float = 0.5,
        by_variant: bool = True,
        delivered_share: float | None = 0.5,
        sellout: float = 0.0,
        engine: Any = None,
        **axes: float,
    ) -> World:
        return World(
            engine or words_engine,
            difficulty(d, axes),
            ("test", seed),
            Setting(variant_share, by_variant, delivered_share),
            sellout=sellout,
        )

    return make


@pytest.fixture(scope="session")
def call() -> Callable[..., dict[str, Any]]:
    """Calls a tool as an agent does: `call(world, "cart_add", product_id="p…")` checks the arguments, then runs it."""
    from ecomrlve.tools import REGISTRY

    def run(world: Any, name: str, **arguments: Any) -> dict[str, Any]:
        return REGISTRY[name].call(world, REGISTRY[name].validate(arguments))

    return run


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real product files, where this checkout has them beside it."""
    folder = Path(os.environ.get("ECOMRLVE_SHARED_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no folder of shared data beside this checkout")
    return folder
