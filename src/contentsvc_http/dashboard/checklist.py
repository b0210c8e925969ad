from collections.abc import Sequence
from typing import final

from attrs import frozen

from contentsvc_core.organizations import Integration


@final
@frozen(kw_only=True)
class ChecklistStep:
    id: str
    title: str
    is_done: bool
    hint: str
    action: str
    path: str


def checklist(
    *,
    integrations: Sequence[Integration],
    arrived: bool,
    refused: bool,
    has_trigger: bool,
    has_post: bool,
    is_public: bool,
) -> Sequence[ChecklistStep]:
    connect = "/integrations#connect"
    steps = (
        ChecklistStep(
            id="connect",
            title="Connect a repository",
            is_done=bool(integrations),
            hint="Its pushes and releases arrive here and become posts.",
            action="Connect a repository",
            path=connect,
        ),
        _ping(integrations, arrived=arrived, refused=refused),
        ChecklistStep(
            id="trigger",
            title="Create a trigger",
            is_done=has_trigger,
            hint="A trigger decides which events become posts: releases are a good start.",
            action="Create a trigger",
            path="/triggers",
        ),
        ChecklistStep(
            id="post",
            title="Get the first post",
            is_done=has_post,
            hint="The next release starts one. You can also ask for a post about recent changes now.",
            action="Write from commits",
            path="/posts/write",
        ),
        ChecklistStep(
            id="public",
            title="Open the public changelog",
            is_done=is_public,
            hint="Your readers find published posts there, and a feed. You see first what becomes public.",
            action="Set up the changelog",
            path="/changelog",
        ),
    )
    return () if all(step.is_done for step in steps) else steps


def _ping(integrations: Sequence[Integration], *, arrived: bool, refused: bool) -> ChecklistStep:
    if refused:
        hint, action = "A delivery arrived and was refused. Its log entry says why.", "See why"
        path = "/integrations/logs?status=failed"
    elif integrations:
        hint = "Waiting for the code host. Its ping arrives seconds after you add the webhook there."
        action, path = "Show the webhook", f"/integrations/{integrations[0].id}"
    else:
        hint, action = "The code host sends a ping as soon as the repository is connected.", "Connect first"
        path = "/integrations#connect"
    return ChecklistStep(
        id="ping", title="Receive the first ping", is_done=arrived, hint=hint, action=action, path=path
    )
