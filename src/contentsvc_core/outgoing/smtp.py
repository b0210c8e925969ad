from typing import Final, Self, final
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

_PORTS: Final = {"smtp": 587, "smtps": 465}
_EXAMPLE: Final = "smtps://USER:PASSWORD@mail.example.org or smtp://USER:PASSWORD@mail.example.org:587"


@final
@frozen(kw_only=True)
class SmtpServer:
    host: str
    port: int
    #: TLS from the first byte; else STARTTLS, unless ``in_clear``.
    is_tls: bool
    #: No TLS at all: for a relay on this machine.
    in_clear: bool = False
    user: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def read(cls, url: str) -> Self:
        """Read ``smtp://`` (STARTTLS is needed, unless ``?starttls=off``) or ``smtps://``, or raise ``ValueError``."""
        try:
            parts = urlsplit(url)
            port = parts.port
            host = parts.hostname
        except ValueError as exc:
            message = f"has a host or port that cannot be read: use {_EXAMPLE}"
            raise ValueError(message) from exc
        if parts.scheme not in _PORTS or not host or parts.path not in {"", "/"} or parts.fragment:
            message = f"must be {_EXAMPLE}"
            raise ValueError(message)
        if parts.query not in {"", "starttls=off"} or (parts.query and parts.scheme == "smtps"):
            message = "takes no option but ?starttls=off, and that with smtp:// alone"
            raise ValueError(message)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if bool(user) != bool(password):
            message = "needs a user and a password, or neither"
            raise ValueError(message)
        if not (user.isascii() and password.isascii()):
            # Python's client raises UnicodeEncodeError when it signs in.
            message = "needs a user and a password of ASCII characters"
            raise ValueError(message)
        if user and parts.query:
            message = "would send the password in clear: leave out ?starttls=off"
            raise ValueError(message)
        return cls(
            host=host,
            port=port or _PORTS[parts.scheme],
            is_tls=parts.scheme == "smtps",
            in_clear=bool(parts.query),
            user=user,
            password=password,
        )
