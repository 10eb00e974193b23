"""The fence around the tests: what is local gets through, everything else fails the test that tried."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest


@pytest.fixture
def caught(network_attempts):
    """What the fence caught in this test; taken off the record, since here it is meant."""
    yield network_attempts
    network_attempts.clear()


@pytest.mark.parametrize("address", ["192.0.2.1", "example.com", "8.8.8.8"])
@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_no_connection_leaves_this_machine(address, method, caught):
    with socket.socket() as plug, pytest.raises(RuntimeError, match="without a network"):
        getattr(plug, method)((address, 443))
    assert caught == [f"a connection to {(address, 443)!r}"]


def test_no_connection_over_ipv6_or_without_handshake(caught):
    with socket.socket(socket.AF_INET6) as plug, pytest.raises(RuntimeError, match="without a network"):
        plug.connect(("2001:db8::1", 443))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug, pytest.raises(RuntimeError, match="network"):
        plug.connect(("192.0.2.1", 80))
    assert len(caught) == 2


@pytest.mark.parametrize("host", ["huggingface.co", b"huggingface.co", "192.0.2.1", "localhost.evil.example"])
def test_no_name_is_looked_up(host, caught):
    with pytest.raises(RuntimeError, match="without a network"):
        socket.getaddrinfo(host, 443)
    with pytest.raises(RuntimeError, match="without a network"):
        socket.create_connection((host, 443))
    assert len(caught) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_servers_on_this_machine_can_be_reached(host):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((host, port)) as plug:
            assert plug.getpeername() == ("127.0.0.1", port)


def test_unix_sockets_can_be_reached():
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        path = f"{folder}/s"
        server.bind(path)
        server.listen()
        with socket.socket(socket.AF_UNIX) as plug:
            plug.connect(path)
            assert plug.getpeername() == path


@pytest.fixture
def outcome_of(tmp_path):
    """Runs a test file of its own under the same conftest, in another process."""

    def run(source: str) -> str:
        shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
        (tmp_path / "test_inner.py").write_text(textwrap.dedent(source))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "."]
        bare = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(command, cwd=tmp_path, env=bare, capture_output=True, text=True, check=False).stdout

    return run


def test_a_swallowed_attempt_fails_the_test_all_the_same(outcome_of):
    outcome = outcome_of(
        """
        import contextlib
        import socket

        def test_swallows():
            with contextlib.suppress(Exception):
                socket.create_connection(("example.com", 443))

        def test_innocent():
            assert socket.getaddrinfo("127.0.0.1", 80)
        """
    )
    assert "something wanted the address of 'example.com'" in outcome
    assert "2 passed, 1 error" in outcome


def test_libraries_are_told_to_stay_offline():
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"
    assert os.environ["TOKENIZERS_PARALLELISM"] == "false"


def test_computed_vectors_do_not_land_in_the_home_folder():
    from ecomrlve.catalog.index import cache_folder

    assert cache_folder() == Path(os.environ["ECOMRLVE_CACHE"])
    assert cache_folder() != Path.home() / ".cache" / "ecomrlve"
