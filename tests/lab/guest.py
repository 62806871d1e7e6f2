"""Runs commands in a guest, by the agent that guest/agent.cc describes."""

import select
import socket
import struct
import sys

from errors import LabError

COMMAND, INPUT, OUTPUT, ERROR_OUTPUT, EXIT = b"C", b"I", b"O", b"E", b"X"
CONNECT_TIMEOUT_S = 20  # a guest on a busy machine; a paused one never answers
INPUT_CHUNK = 16384


def encode(kind, body):
    return kind + struct.pack(">I", len(body)) + body


def decode(buffer):
    """The whole messages in the buffer; takes them out of it."""
    messages = []
    while len(buffer) >= 5:
        size = struct.unpack_from(">I", buffer, 1)[0]
        if len(buffer) < 5 + size:
            break
        messages.append((bytes(buffer[:1]), bytes(buffer[5:5 + size])))
        del buffer[:5 + size]
    return messages


def _connect(host, timeout):
    doing = f"reaching the agent of {host.name} on 127.0.0.1:{host.agent_port}"
    try:
        connection = socket.create_connection(("127.0.0.1", host.agent_port), timeout=timeout)
        connection.settimeout(timeout)
        line = b""
        while not line.endswith(b"\n"):
            byte = connection.recv(1)  # no more than the line: what follows belongs to the command
            if not byte:
                raise LabError(f"{doing}: it hung up; the guest may be booting, see "
                               f"`lab console {host.name}`")
            line += byte
    except OSError as error:
        raise LabError(f"{doing}: {error}; see `lab status` and `lab console {host.name}`") from None
    if line.decode(errors="replace").strip() != host.greeting:
        connection.close()
        raise LabError(f"{doing}: somebody else answers there; run `lab down` and `lab up`")
    connection.settimeout(None)
    return connection


def run(host, arguments, stdin=None, on_output=None, on_error=None, timeout=None):
    """Runs the command; its exit code. Output goes to this process's unless told otherwise.

    `stdin` is a binary file or None; `timeout` bounds each wait for output, not the whole run.
    """
    host.need_running("running a command")
    on_output = on_output or _writer(sys.stdout.buffer)
    on_error = on_error or _writer(sys.stderr.buffer)
    with _connect(host, timeout or CONNECT_TIMEOUT_S) as connection:
        connection.sendall(encode(COMMAND, b"".join(a.encode() + b"\0" for a in arguments)))
        if stdin is None:
            connection.sendall(encode(INPUT, b""))
        buffer = bytearray()
        while True:
            watched = [connection] + ([stdin] if stdin else [])
            readable = select.select(watched, [], [], timeout)[0]
            if not readable:
                raise LabError(f"running {arguments[0]} on {host.name}: no word for {timeout} s")
            if stdin in readable:
                chunk = stdin.read1(INPUT_CHUNK)
                connection.sendall(encode(INPUT, chunk))
                stdin = stdin if chunk else None
            if connection not in readable:
                continue
            data = _receive(connection, host, arguments)
            buffer += data
            for kind, body in decode(buffer):
                if kind == OUTPUT:
                    on_output(body)
                elif kind == ERROR_OUTPUT:
                    on_error(body)
                elif kind == EXIT:
                    return int(body)


def _receive(connection, host, arguments):
    try:
        data = connection.recv(65536)
    except OSError:
        data = b""
    if not data:
        raise LabError(f"running {arguments[0]} on {host.name}: the guest went away meanwhile; see "
                       f"`lab status` and `lab console {host.name}`")
    return data


def _writer(stream):
    def write(data):
        stream.write(data)
        stream.flush()
    return write


def output(host, arguments, timeout=None):
    """(exit code, stdout and stderr as text)."""
    parts = []
    code = run(host, arguments, on_output=parts.append, on_error=parts.append, timeout=timeout)
    return code, b"".join(parts).decode(errors="replace")


def put(host, source, destination):
    """Copies a file; it appears in one piece and with its permissions."""
    try:
        with open(source, "rb") as file:
            mode = source.stat().st_mode & 0o7777
            script = 'cat >"$1.part" && chmod "$2" "$1.part" && mv "$1.part" "$1"'
            return run(host, ["sh", "-c", script, "sh", destination, f"{mode:o}"], stdin=file)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise LabError(f"copying {source} to {host.name}: {error.strerror}") from None
