"""The server of a page: viser's, on the loopback address and a free port unless asked otherwise."""

from __future__ import annotations

import io
import ipaddress
import os
import socket
import sys
import warnings
import webbrowser
from contextlib import redirect_stdout
from typing import Any

from freeflyer.errors import InputError, MissingExtraError, format_value
from freeflyer.model.inputs import whole_number

LOOPBACK, FIRST_PORT, PORTS = "127.0.0.1", 8080, 100
LAST_PORT = 2**16 - 1


def open_server(host: str, port: int | None, label: str) -> Any:
    """A running viser.ViserServer. Errors: MissingExtraError; InputError for a bad address, and for a port that is taken."""
    try:
        import viser
    except ImportError:
        raise MissingExtraError('the page in a browser needs viser: pip install "freeflyer[viewer]"') from None
    address = _address(host)
    if port is None:
        chosen = next((free for free in range(FIRST_PORT, FIRST_PORT + PORTS) if _is_free(address, free)), 0)
    elif not _is_free(address, chosen := whole_number("port", port, 0, LAST_PORT)):
        raise InputError(f"port {chosen} of {address} is taken by another program: leave out port=, or give another one", port=port)
    if not ipaddress.ip_address(address).is_loopback:
        warnings.warn(f"the viewer listens on {address}: whoever reaches this machine can see and move the robot", stacklevel=4)
    with redirect_stdout(io.StringIO()):  # viser prints a banner
        return viser.ViserServer(host=address, port=chosen, label=label, verbose=False)


def address_of(server: Any) -> str:
    """Of the page, for a browser on this machine."""
    host = ipaddress.ip_address(server.get_host())
    return f"http://{LOOPBACK if host.is_unspecified else host}:{server.get_port()}"


def stop_server(server: Any) -> None:
    with redirect_stdout(io.StringIO()):
        server.stop()


def _address(host: str) -> str:
    """The numbers of an address of this machine."""
    try:
        return str(ipaddress.ip_address(socket.gethostbyname(host)))
    except (OSError, ValueError, TypeError):
        raise InputError(f"host is {format_value(host)}: expected an address of this machine, such as {LOOPBACK!r}") from None


def _is_free(address: str, port: int) -> bool:
    try:
        with socket.create_server((address, port)):
            return True
    except OSError as error:
        if port and error.errno not in (98, 48, 13):  # in use, in use (macOS), not permitted
            raise InputError(f"host is {address!r}, which is no address of this machine: {error.strerror}") from None
        return False


def open_browser(url: str) -> bool:
    """Whether a browser with windows was started."""
    windows = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    try:
        return bool(windows) and webbrowser.open(url)
    except webbrowser.Error:
        return False


def in_notebook() -> bool:
    """Whether a notebook shows the results of cells."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})
