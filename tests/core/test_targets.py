"""Targets of endpoints: their formats, and the refusals of useless targets."""

import pytest
from tests.refusals import the_refusal

from contentsvc_core.content.brand import TEXT_LIMIT
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.targets import Target, addresses_of, format_of_target, read_target, shown_target

STANDARD, SLACK, DISCORD, TEAMS, EMAIL = EndpointFormat
_SLACK_URL = "https://hooks.slack.com/services/T0/B0/x"
_FLOW = "https://prod-01.westus.logic.azure.com/workflows/a/triggers/manual/paths/invoke?api-version=2016-06-01&sig=x"


@pytest.mark.parametrize(
    ("text", "chosen", "url", "format_"),
    [
        ("https://acme.example/hook", None, None, STANDARD),
        ("https://acme.example/@ada", None, None, STANDARD),
        (_SLACK_URL, None, None, SLACK),
        (_SLACK_URL, SLACK, None, SLACK),
        ("https://hooks.slack-gov.com/services/T0/B0/x", None, None, SLACK),
        ("https://discord.com/api/webhooks/1/x", None, None, DISCORD),
        ("https://discord.com/api/webhooks/1/x/slack", None, None, SLACK),
        ("https://discord.com/api/webhooks/1/x/slack/", None, None, SLACK),
        (_FLOW, None, None, TEAMS),
        ("https://a.b.environment.api.powerplatform.com/workflows/a", None, None, TEAMS),
        ("https://acme.webhook.office.com/webhookb2/a", None, None, TEAMS),
        # A self-hosted chat that accepts Slack's messages.
        ("https://chat.acme.example/hooks/x", SLACK, None, SLACK),
        ("https://hooks.slack.com.acme.example/", None, None, STANDARD),
        ("mailto:ops@acme.example", None, None, EMAIL),
        (
            "MailTo:Ops@ACME.example, dev@acme.example,ops@acme.example",
            None,
            "mailto:ops@acme.example,dev@acme.example",
            EMAIL,
        ),
        ("ops@acme.example", None, "mailto:ops@acme.example", EMAIL),
        ("ops@acme.example", EMAIL, "mailto:ops@acme.example", EMAIL),
    ],
)
def test_the_target_chooses_the_format(
    text: str, chosen: EndpointFormat | None, url: str | None, format_: EndpointFormat
) -> None:
    assert read_target(text, chosen) == Target(url=url or text, format=format_)
    if chosen is None:
        assert format_of_target(url or text) is format_


@pytest.mark.parametrize(
    ("text", "chosen", "field", "reason"),
    [
        (_SLACK_URL, STANDARD, "format", "must be slack, or none: hooks.slack.com is Slack, which reads no other"),
        (_SLACK_URL, DISCORD, "format", "must be slack"),
        (_FLOW, STANDARD, "format", "is Microsoft Teams"),
        ("https://acme.example/", EMAIL, "url", "has 'https://acme.example/', which is no e-mail address"),
        ("mailto:ops@acme.example", SLACK, "format", "must be email"),
        ("mailto:", None, "url", "has '', which is no e-mail address"),
        (f"mailto:{'a' * TEXT_LIMIT}@acme.example", None, "url", f"must have at most {TEXT_LIMIT} characters"),
        ("mailto:ops@acme.example?bcc=eve@evil.example", None, "url", "which is no e-mail address"),
        ("mailto:" + ",".join(f"a{i}@acme.example" for i in range(11)), None, "url", "at most 10 e-mail addresses"),
        ("mailto:ops@acme.example\r\nBcc: eve@evil.example", None, "url", "which is no e-mail address"),
        ("http://acme.example/", None, "url", "must begin with https://"),
        ("https://127.0.0.1/", SLACK, "url", "public site, which '127.0.0.1' is not, unless CONTENTSVC_OUTGOING_HOSTS"),
        ("https://acme.example:8443/", None, "url", "unless CONTENTSVC_OUTGOING_HOSTS has acme.example:8443"),
    ],
)
def test_a_target_that_would_be_useless_is_refused_with_the_field(
    text: str, chosen: EndpointFormat | None, field: str, reason: str
) -> None:
    refused = the_refusal(read_target(text, chosen))

    assert refused.field == field
    assert reason in refused.message()


def test_a_target_is_shown_without_its_secrets() -> None:
    assert shown_target(_SLACK_URL) == "hooks.slack.com"
    assert shown_target("mailto:a@acme.example,b@acme.example") == "a@acme.example, b@acme.example"
    assert addresses_of("mailto:a@acme.example,b@acme.example") == ("a@acme.example", "b@acme.example")
    assert [each for each in EndpointFormat if each.is_chat] == [SLACK, DISCORD, TEAMS]
