"""The bodies of requests and answers."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

_BRANCH = "refs/heads/"


class _Out(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class Author(_Out):
    """The author of a commit."""

    name: str
    email: str | None = ""
    username: str | None = None


class Commit(_Out):
    """A commit; further fields of the code host are ignored."""

    id: str
    message: str
    author: Author
    timestamp: str
    url: str


class HeadCommit(_Out):
    """The head of the branch."""

    id: str
    message: str


class PushRepository(BaseModel):
    """The repository in a push."""

    id: int
    full_name: str
    default_branch: str


class NativePush(BaseModel):
    """A push, as the code host sends it."""

    ref: str
    commits: list[Commit]
    head_commit: HeadCommit | None
    repository: PushRepository


class PushData(_Out):
    """A normalized push, for the store and the answer."""

    ref: str
    branch: str
    commits: list[Commit]
    head_commit: HeadCommit | None

    @classmethod
    def of(cls, native: NativePush) -> "PushData":
        """Return the normalized push."""
        return cls.model_construct(
            ref=native.ref,
            branch=native.ref.removeprefix(_BRANCH),
            commits=native.commits,
            head_commit=native.head_commit,
        )


class Processed(_Out):
    """An event that was processed."""

    type: str
    action: str
    data: PushData


class AnsweredRepository(_Out):
    """The repository in an answer."""

    id: int
    full_name: str


class AnswerData(_Out):
    """The result of a delivery."""

    event: str
    delivery: str
    action: str | None = None
    filtered: bool | None = None
    ignored: bool | None = None
    duplicate: bool | None = None
    processed: Processed | None = None
    repository: AnsweredRepository | None = None


class Answer(_Out):
    """The answer to a received delivery."""

    received: bool = True
    message: str
    data: AnswerData


def why_filtered(push: NativePush) -> str | None:
    """Return why a push is filtered; ``None``: it is processed."""
    if push.ref != f"{_BRANCH}{push.repository.default_branch}":
        return f"{push.ref} is not the default branch ({push.repository.default_branch})"
    return None if push.commits else "the push contains no commits"
