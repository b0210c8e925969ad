"""URLs of mail servers, and the fault of each that cannot be used."""

from typing import Final

import pytest

from contentsvc_core.outgoing.smtp import SmtpServer

_EXAMPLE: Final = "smtps://USER:PASSWORD@mail.example.org or smtp://USER:PASSWORD@mail.example.org:587"
_FORM: Final = f"must be {_EXAMPLE}"
_HOST_FAULT: Final = f"has a host or port that cannot be read: use {_EXAMPLE}"
_OPTION: Final = "takes no option but ?starttls=off, and that with smtp:// alone"
_BOTH: Final = "needs a user and a password, or neither"
_ASCII: Final = "needs a user and a password of ASCII characters"
_CLEAR: Final = "would send the password in clear: leave out ?starttls=off"


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("mail.example.org", _FORM),
        ("http://mail.example.org", _FORM),
        ("smtp://", _FORM),
        ("smtp://mail.example.org:port", _HOST_FAULT),
        ("smtp://mail.example.org/path", _FORM),
        ("smtp://mail.example.org#part", _FORM),
        ("smtp://user:pass@mail.example.org:99999", _HOST_FAULT),
        ("smtps://mail.example.org?starttls=off", _OPTION),
        ("smtp://mail.example.org?tls=no", _OPTION),
        ("smtp://user@mail.example.org", _BOTH),
        ("smtp://:pass@mail.example.org", _BOTH),
        ("smtp://user:p%C3%A4ss@mail.example.org", _ASCII),
        ("smtp://üser:pass@mail.example.org", _ASCII),
        ("smtp://user:pass@mail.example.org?starttls=off", _CLEAR),
    ],
)
def test_an_unusable_url_is_refused_without_the_password(url: str, fault: str) -> None:
    with pytest.raises(ValueError, match=r"^.*$") as raised:
        SmtpServer.read(url)
    assert str(raised.value) == fault


def test_an_address_names_port_and_kind_of_tls() -> None:
    assert SmtpServer.read("smtps://a:b%2Fc@mail.example.org") == SmtpServer(
        host="mail.example.org", port=465, is_tls=True, user="a", password="b/c"
    )
    assert SmtpServer.read("smtp://mail.example.org/") == SmtpServer.read("smtp://mail.example.org")
    assert SmtpServer.read("smtp://mail.example.org") == SmtpServer(host="mail.example.org", port=587, is_tls=False)
    assert SmtpServer.read("smtp://localhost:25?starttls=off") == SmtpServer(
        host="localhost", port=25, is_tls=False, in_clear=True
    )
    assert SmtpServer.read("smtp://a%40b:c@mail.example.org").user == "a@b"
