"""The certificate authorities that requests to code hosts, models and other servers trust."""

import os
import re
import ssl
from typing import Final

import httpx

#: The number of the operating system before its message, which tells users nothing.
_NUMBER: Final = re.compile(r"^\[Errno -?\d+\] ")


def authorities(scheme: str) -> ssl.SSLContext:
    """Return a context that trusts ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``, if one is set, else certifi's authorities.

    A context for plain HTTP trusts no authority, because loading them takes 50 ms. A context whose files cannot be read
    trusts none either: each request fails at the certificate, and :func:`certificate_advice` names the variable.
    """
    if scheme == "https":
        try:
            return httpx.create_ssl_context()
        except OSError:
            pass
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def is_certificate_fault(exc: BaseException) -> bool:
    """Check whether a connection failed at the certificate; the client wraps the errors of its parts."""
    while (behind := exc.__cause__ or exc.__context__) is not None and not isinstance(exc, ssl.SSLError):
        exc = behind
    return isinstance(exc, ssl.SSLCertVerificationError)


def failure_reason(exc: BaseException) -> str:
    """Return why a request failed, and what to do about a certificate that is not trusted."""
    return f"{_NUMBER.sub('', str(exc)) or type(exc).__name__}{certificate_advice(exc)}"


def certificate_advice(exc: BaseException) -> str:
    """Return what to do about a certificate that is not trusted; empty for other faults."""
    if not is_certificate_fault(exc):
        return ""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return "; check that SSL_CERT_FILE or SSL_CERT_DIR names the authority of its certificate"
    return "; if your own authority issued its certificate, set SSL_CERT_FILE to its file"
