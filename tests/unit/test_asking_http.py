"""A server is asked over TLS, too, within a time, and only where its certificate is trusted."""

import datetime
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pneuma_assets.core.asking_http import ask

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    """Make a file with a key and the certificate of `localhost`, signed by nobody else."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - day, now + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    file.write_bytes(secret + made.public_bytes(pem))
    return file


@contextmanager
def answering(certificate: Path, begun: bytes, gone: threading.Event) -> Iterator[str]:
    """Answer one question with some bytes, and then with one more every now and then."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def answer() -> None:
        try:
            with context.wrap_socket(listening.accept()[0], server_side=True) as asker:
                asker.recv(10_000)
                asker.sendall(begun)
                while begun != WHOLE:
                    time.sleep(0.05)
                    asker.sendall(b"x")
        except OSError:
            gone.set()

    with create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer)
        thread.start()
        yield f"https://localhost:{listening.getsockname()[1]}"
        thread.join(10)


def test_an_answer_over_tls_is_returned(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with answering(certificate, WHOLE, threading.Event()) as url:
        assert ask(url, {"A": "b"}, seconds=10, most_bytes=2) == b"ok"


def test_a_server_that_nobody_vouches_for_is_asked_nothing(certificate):
    gone = threading.Event()
    with (
        answering(certificate, WHOLE, gone) as url,
        pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        ask(url, {}, seconds=10, most_bytes=2)
    assert gone.is_set()


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nX: "])
def test_what_drips_over_tls_ends_with_the_time(certificate, monkeypatch, begun):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    gone = threading.Event()
    with answering(certificate, begun, gone) as url:
        with pytest.raises(TimeoutError, match=r"more than 0\.5 s"):
            ask(url, {}, seconds=0.5, most_bytes=1000)
        assert gone.wait(5)
