"""A real server sends webhooks to a real receiver, which verifies with the reference implementation's package.

Both use a clock that the test advances, so that waits of minutes end at once.
"""

import signal
import threading
from collections.abc import Generator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any, final

import httpx
import pytest
import standardwebhooks.webhooks
from attrs import field, frozen
from standardwebhooks import Webhook, WebhookVerificationError
from tests.drivers.delivering import deliver
from tests.http_server import HttpServer, ReceivedRequest, Reply
from tests.server_process import PATIENCE_S, PLAIN, Prepared, ServerProcess, prepare, serving, until
from tests.stepped_clock import SteppedClock

pytestmark = pytest.mark.slow("starts, stops and kills a server")
_MINUTE_S = 60.0


@frozen(kw_only=True)
class Came:
    """A received request, and the package's result for each secret of the receiver."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    verified: Sequence[bool]


class Receiver(HttpServer):
    """Serves until its context ends; answers with ``statuses`` in turn, and then with 204."""

    def __init__(self) -> None:
        super().__init__()
        self.statuses: list[int] = []
        self.secrets: list[str] = []
        self.came: list[Came] = []
        #: While it is set, requests wait.
        self.hold = threading.Event()
        self.released = threading.Event()

    def reply(self, request: ReceivedRequest, /) -> Reply:
        verified = [_verifies(secret, request.headers, request.raw) for secret in self.secrets]
        self.came.append(Came(path=request.path, headers=request.headers, body=request.body, verified=verified))
        if self.hold.is_set():
            self.released.wait(PATIENCE_S)
        return self.statuses.pop(0) if self.statuses else 204, {}, b""

    def __exit__(self, *_: object) -> None:
        self.released.set()
        super().__exit__()

    def until(self, number: int) -> list[Came]:
        until(lambda: len(self.came) >= number, f"{number} messages came")
        return self.came


def _verifies(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    try:
        Webhook(secret).verify(body, dict(headers))
    except WebhookVerificationError:
        return False
    return True


@final
@frozen(kw_only=True)
class Scene:
    prepared: Prepared
    server: ServerProcess
    receiver: Receiver
    clock: SteppedClock
    #: The offset of both sides' clocks from the machine's clock, in seconds.
    ahead: list[float] = field(factory=lambda: [0.0])

    def step(self, seconds: float) -> None:
        self.ahead[0] += seconds
        self.clock.step_to(self.ahead[0])

    def api(self, method: str, path: str, body: object = None) -> Any:
        sent: dict[str, Any] = {} if body is None else {"json": body}
        headers = {"Authorization": f"Bearer {self.prepared.key}"}
        url = f"{self.server.url}{path}"
        answer = httpx.request(method, url, headers=headers, trust_env=False, verify=PLAIN, timeout=PATIENCE_S, **sent)
        assert answer.is_success, answer.text
        return answer.json()

    def endpoint(self, path: str = "/hook", url: str = "", *types: str) -> tuple[str, str]:
        """Create an endpoint; return its id and its secret."""
        body = {"url": url or f"{self.receiver.url}{path}", "eventTypes": types}
        made = self.api("POST", "/v1/webhook-endpoints", body)
        self.receiver.secrets.append(made["secret"])
        return made["webhookEndpoint"]["id"], made["secret"]

    def test(self, endpoint_id: str) -> str:
        return self.api("POST", f"/v1/webhook-endpoints/{endpoint_id}/test")["messageId"]

    def log(self, endpoint_id: str) -> list[dict[str, Any]]:
        return self.api("GET", f"/v1/webhook-logs?integrationId={endpoint_id}")["logs"]

    def reason(self, entry: dict[str, Any]) -> str:
        return self.api("GET", f"/v1/webhook-logs/{entry['id']}")["explanation"]["reason"]

    def until_logged(self, endpoint_id: str, status: str, number: int = 1) -> dict[str, Any]:
        """Wait for entries with an end; return the newest."""

        def found() -> list[dict[str, Any]]:
            return [entry for entry in self.log(endpoint_id) if entry["status"] == status]

        until(lambda: len(found()) >= number, f"the log has {number} entries that are {status}")
        return found()[0]

    def push(self, delivery: str) -> None:
        assert deliver(self.prepared, self.server, delivery).is_success


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scene]:
    folder = tmp_path_factory.mktemp("webhooks-out")
    clock = SteppedClock(folder, databases=True)
    ahead = [0.0]

    class Stepped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Stepped":
            return super().now(tz) + timedelta(seconds=ahead[0])

    with pytest.MonkeyPatch.context() as patch, Receiver() as receiver:
        # Also the receiver's clock: the receiver refuses messages that seem more than five minutes old or early.
        patch.setattr(standardwebhooks.webhooks, "datetime", Stepped)
        prepared = prepare(folder, outgoing_hosts=receiver.place)
        key = prepared.installation.command("key", "issue", "--organization", "acme")["key"]
        prepared = Prepared(
            installation=prepared.installation,
            hook=prepared.hook,
            key=key,
            on_all=prepared.on_all,
            on_push=prepared.on_push,
        )
        with serving(prepared.installation, program=clock.program, environment=clock.environment) as server:
            yield Scene(prepared=prepared, server=server, receiver=receiver, clock=clock, ahead=ahead)


@pytest.fixture(autouse=True)
def _fresh(scene: Scene) -> Generator[None]:
    scene.receiver.came.clear()
    scene.receiver.secrets.clear()
    yield
    scene.receiver.statuses.clear()
    for endpoint in scene.api("GET", "/v1/webhook-endpoints")["webhookEndpoints"]:
        scene.api("DELETE", f"/v1/webhook-endpoints/{endpoint['id']}")


def test_a_published_post_arrives_after_two_failures_once_verified_and_logged(scene: Scene) -> None:
    endpoint, _ = scene.endpoint("/hook", "", "post.published")
    scene.receiver.statuses += [500, 503]
    scene.api("PATCH", f"/v1/event-triggers/{scene.prepared.on_push}", {"enabled": False})

    scene.push("d-published")

    scene.receiver.until(1)
    entry = scene.until_logged(endpoint, "pending")
    assert (entry["statusCode"], entry["errorMessage"]) == (500, None)
    assert scene.reason(entry).startswith("the endpoint answered with status 500; attempt 1 of 8")
    scene.step(7)
    scene.receiver.until(2)
    until(lambda: scene.log(endpoint)[0]["statusCode"] == 503, "the second failure is logged")
    scene.step(7 * _MINUTE_S)
    came = scene.receiver.until(3)
    (entry,) = [scene.until_logged(endpoint, "success")]

    assert [each.verified for each in came] == [[True]] * 3
    assert len({each.headers["webhook-id"] for each in came}) == 1
    assert came[0].body == came[1].body == came[2].body
    (post,) = scene.api("GET", "/v1/posts")["posts"]
    assert came[0].body["type"] == "post.published"
    assert came[0].body["data"]["id"] == post["id"]
    assert came[0].body["data"]["links"] == {"self": f"/v1/posts/{post['id']}"}
    assert (entry["title"], entry["referenceId"]) == ("Outgoing post.published message", came[0].headers["webhook-id"])
    assert (entry["direction"], entry["statusCode"], entry["errorMessage"]) == ("outgoing", 204, None)
    assert len(scene.log(endpoint)) == 1
    # Resent by its log entry.
    replayed = scene.api("POST", f"/v1/webhook-logs/{entry['id']}/replay")
    again = scene.receiver.until(4)[3]
    assert replayed == {"deliveryId": came[0].headers["webhook-id"]}
    assert (again.headers["webhook-id"], again.body, again.verified) == (replayed["deliveryId"], came[0].body, [True])
    scene.until_logged(endpoint, "success", 2)
    counted = httpx.get(f"{scene.server.url}/metrics", trust_env=False, verify=PLAIN).text
    assert 'contentsvc_webhook_attempts_total{outcome="delivered"} 2.0' in counted
    assert 'contentsvc_webhook_attempts_total{outcome="retry"} 2.0' in counted


def test_nothing_is_sent_to_an_internal_address(scene: Scene) -> None:
    # A name of more than one label that the system's own resolver leads to this machine (RFC 6761, section 6.3).
    endpoint, _ = scene.endpoint(url="https://canary.localhost/hook")
    scene.test(endpoint)

    entry = scene.until_logged(endpoint, "pending")

    assert (entry["statusCode"], entry["errorMessage"]) == (None, None)
    assert scene.reason(entry).startswith(
        "nothing was sent: there is no public host 'canary.localhost'; attempt 1 of 8"
    )
    # A redirect to it counts as an answer, and is not followed.
    elsewhere, _ = scene.endpoint()
    scene.receiver.statuses.append(302)
    scene.test(elsewhere)
    assert "redirects are not followed" in scene.reason(scene.until_logged(elsewhere, "pending"))


def test_a_dead_endpoint_does_not_hold_up_the_others(scene: Scene) -> None:
    dead, _ = scene.endpoint(url="https://nobody.invalid/")
    alive, _ = scene.endpoint()
    for _ in range(12):
        scene.test(dead)
    message_id = scene.test(alive)

    (came,) = scene.receiver.until(1)

    assert came.headers["webhook-id"] == message_id


def test_an_orderly_stop_returns_unanswered_messages_and_the_next_start_sends_them_at_once(scene: Scene) -> None:
    endpoint, _ = scene.endpoint()
    scene.receiver.released.clear()
    scene.receiver.hold.set()
    message_id = scene.test(endpoint)
    scene.receiver.until(1)

    scene.server.terminate()
    assert scene.server.exit_code(within_s=15) in {0, -signal.SIGTERM}
    scene.server.kill()
    scene.receiver.hold.clear()
    scene.receiver.released.set()
    scene.server.start()
    scene.server.until_ready()

    # Without a step of the clock.
    came = scene.receiver.until(2)
    assert [each.headers["webhook-id"] for each in came] == [message_id, message_id]
    scene.until_logged(endpoint, "success")
