"""Response bodies for clients of the hosted product, and their OpenAPI schemas (decision 0038)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, final

from contentsvc_core.content.posts import Post, PostBody
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.ports import Directory
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.webhooks.providers import HOSTED_PROVIDER
from contentsvc_core.workflows.bodies import ScheduleBody, TriggerBody, TriggerListBody, TriggerSourceBody, listed
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.jobs import BrandJobBody, Job, brand_id_of
from contentsvc_core.workflows.removals import Disabled, Removed, RemovedBody
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import EVENT_TYPES, Trigger
from contentsvc_http.described import TEXT, TEXT_OR_NULL, TIME, object_of, reference
from contentsvc_http.field_descriptions import FIELDS, described
from contentsvc_http.v1.answers import Answers, repository_map

#: Maximum number of organizations in memory: a few MiB, and far more than have requests at once.
_ORGANIZATIONS_LIMIT: Final = 10_000
#: Kinds of integrations that the hosted product has and this service lacks.
_OTHER_KINDS: Final = ("slack", "linear")
#: The operations whose answers have no organization beside the rest.
_PLAIN: Final = ("getPostGeneration", "getOrganization", "updateOrganization")


class _HostedPostBody(PostBody, frozen=True, kw_only=True):
    """A post with the fields that are always null here. In the hosted product, only image posts have the last three."""

    slug: None = None
    recommendations: None = None
    html_url: None = None
    raw_html: None = None


_POST_FIELDS: Final = _HostedPostBody.__struct_encode_fields__[len(PostBody.__struct_encode_fields__) :]


class _HostedSourceBody(TriggerSourceBody, frozen=True, kw_only=True):
    include_pre_releases: bool
    ignore_commit_patterns: list[str]


class _HostedTriggerBody(TriggerBody, frozen=True, kw_only=True):
    updated_at: str


class _HostedBrandJobBody(BrandJobBody, frozen=True, kw_only=True):
    workflow_run_id: str


class _HostedTriggerListBody(TriggerListBody):
    repositoryMap: dict[str, str]  # noqa: N815  # the wire's name


@final
class Organizations:
    """The organizations that responses show."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        #: The organizations by id, as of their newest requests.
        self._known: dict[str, Organization] = {}

    async def prepare(self, organization_id: str) -> None:
        """Read the organization before the operation: a database failure afterwards would lose the response."""
        organization = await self._directory.organization_of(organization_id)
        if organization is not None:
            # It moves to the end: the first one is dropped, and those of other running requests must stay.
            self._known.pop(organization.id, None)
            self._known[organization.id] = organization
            if len(self._known) > _ORGANIZATIONS_LIMIT:
                del self._known[next(iter(self._known))]

    def beside(self, body: Mapping[str, Any], organization_id: str) -> dict[str, Any]:
        organization = self._known.get(organization_id)
        return dict(body) if organization is None else with_organization(body, organization)


def with_organization(body: Mapping[str, Any], organization: Organization) -> dict[str, Any]:
    shown = {"id": organization.id, "slug": organization.slug, "name": organization.name, "logo": None}
    return {**body, "organization": shown}


@final
class HostedAnswers(Answers):
    def post(self, post: Post) -> PostBody:
        return _HostedPostBody.of(post)

    def brand_job(self, job: Job) -> BrandJobBody:
        # The id is known in advance. Clients store it and read the brand identity when the job is completed.
        return _HostedBrandJobBody.of(job, brand_identity_id=brand_id_of(job.run), workflow_run_id=job.run.id)

    def schedule(self, schedule: Schedule) -> ScheduleBody:
        """Return a schedule whose brand identity is called a brand voice."""
        return ScheduleBody.of(schedule, output_config=_output_config(schedule.brand_identity_id))

    def event_trigger(self, trigger: Trigger) -> TriggerBody:
        return _HostedTriggerBody.of(
            trigger,
            source_config=_HostedSourceBody(
                # Clients expect at least one. All types mean the same as an empty list.
                event_types=listed(trigger.event_types or EVENT_TYPES),
                include_pre_releases=trigger.options.pre_releases,
                ignore_commit_patterns=[],
            ),
            output_config=_output_config(trigger.brand_identity_id),
            # The time of the last change is not stored.
            updated_at=iso_ms(trigger.created_at),
        )

    def event_triggers(self, triggers: Sequence[Trigger], integrations: Sequence[Integration]) -> TriggerListBody:
        # Clients reject the whole list if one trigger has another provider.
        own_triggers = [trigger for trigger in triggers if trigger.source_type == source_type(HOSTED_PROVIDER.slug)]
        own_integrations = [integration for integration in integrations if integration.provider == HOSTED_PROVIDER.slug]
        return _HostedTriggerListBody(
            **super().event_triggers(own_triggers, integrations),
            repositoryMap=repository_map(
                (number for integration in own_triggers for number in integration.repository_ids), own_integrations
            ),
        )

    def integrations(self, by_provider: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().integrations(by_provider), **{kind: [] for kind in _OTHER_KINDS}}

    def disabled(self, removed: Removed) -> RemovedBody:
        named = {
            "disabledSchedules": [_named(disabled) for disabled in removed.disabled_schedules],
            "disabledEvents": [_named(disabled) for disabled in removed.disabled_events],
        }
        # Objects instead of ids: `_FIELDS` describes them.
        return cast("RemovedBody", named)


def describe(document: Mapping[str, Any]) -> dict[str, Any]:
    components = document["components"]
    schemas: dict[str, Any] = {**components["schemas"], **_SCHEMAS}
    for name, fields in _FIELDS.items():
        schemas[name] = _with(schemas[name], fields)
    schemas["OutputConfigBody"] = object_of(schemas["OutputConfigBody"]["description"], {"brandVoiceId": TEXT})
    for name in successes(document):
        schemas[name] = _with(schemas[name], {"organization": reference("HostedOrganizationBody")})
    return {**document, "components": {**components, "schemas": described(schemas, {**FIELDS, **HOSTED_FIELDS})}}


def successes(document: Mapping[str, Any]) -> set[str]:
    """Return the names of the bodies that show the organization."""
    names: set[str] = set()
    for item in document["paths"].values():
        for operation in item.values():
            # Public operations have no organization, and two operations show none, or their own.
            if not operation.get("security") or operation["operationId"] in _PLAIN:
                continue
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    schema = answer["content"]["application/json"]["schema"]
                    names.add(schema["$ref"].rpartition("/")[2])
    return names


def _with(schema: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **schema,
        "properties": {**schema["properties"], **fields},
        "required": sorted({*schema["required"], *fields}),
    }


_NOTHING: Final[Mapping[str, Any]] = {"type": "array", "maxItems": 0, "items": {}}
_SCHEMAS: Final[Mapping[str, Any]] = {
    "HostedOrganizationBody": object_of(
        "The organization of the API key.", {"id": TEXT, "slug": TEXT, "name": TEXT, "logo": TEXT_OR_NULL}
    ),
    "DisabledBody": object_of("A schedule or an event trigger that was disabled.", {"id": TEXT, "name": TEXT}),
}
_LIST: Final = {"type": "array", "items": reference("DisabledBody")}
_DISABLED: Final[Mapping[str, Any]] = {"disabledSchedules": _LIST, "disabledEvents": _LIST}
_NO_LINEAR: Final = "Always empty: Linear cannot be connected."
_NO_SELECTION: Final = "Must be empty: a post covers everything in its window."
#: Descriptions of the fields of hosted clients alone, by name, or by schema and name.
HOSTED_FIELDS: Final[Mapping[str, str]] = {
    **dict.fromkeys((f"PostBody.{name}" for name in _POST_FIELDS), "Always null."),
    **dict.fromkeys(("linear", "linearIntegrationIds"), _NO_LINEAR),
    **dict.fromkeys(("commitShas", "pullRequestNumbers", "releaseTagNames", "linearIssueIds"), _NO_SELECTION),
    "HostedGenerationBody.integrations": "Repositories that the post reports, by the ids of their integrations.",
    "HostedGenerationBody.selectedItems": "Leave it empty: a post covers everything in its window.",
    "HostedOrganizationBody.logo": "Always null.",
    "TriggerBody.updatedAt": "The time of creation: changes are not recorded.",
    "disabledEvents": "The event triggers that were disabled with it.",
    "disabledSchedules": "The schedules that were disabled with it.",
    "ignoreCommitPatterns": "Always empty: commits cannot be left out by pattern.",
    "includeLinearData": "Must be false: Linear cannot be connected.",
    "includePreReleases": "Whether pre-releases start a run; the same as `preReleases`.",
    "includePullRequests": "Without effect.",
    "instructions": "Must be null or blank: set `customInstructions` of the brand identity.",
    "publishDestination": "Must be null: posts are not sent to other services.",
    "slack": "Always empty: Slack cannot be connected.",
    "timezone": "Time zone of the window. With `current_day` and `yesterday`, it must be that of the organization.",
    "workflowRunId": "Id of the run of the job.",
}
#: Fields that schemas of the document have in addition or in another form, by schema name.
_FIELDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "PostBody": dict.fromkeys(_POST_FIELDS, TEXT_OR_NULL),
    "BrandJobBody": {"brandIdentityId": TEXT, "workflowRunId": TEXT},
    "TriggerSourceBody": {
        "includePreReleases": {"type": "boolean"},
        "ignoreCommitPatterns": {"type": "array", "items": TEXT},
    },
    "TriggerBody": {"updatedAt": TIME},
    "TriggerListBody": {"repositoryMap": {"type": "object", "additionalProperties": TEXT}},
    "IntegrationListBody": dict.fromkeys(_OTHER_KINDS, _NOTHING),
    "BrandRemovedBody": _DISABLED,
    "IntegrationRemovedBody": _DISABLED,
}


def _output_config(brand_identity_id: str | None) -> dict[str, str] | None:
    # Without brandIdentityId: a client that changes one alias and sends both back would be refused.
    return None if brand_identity_id is None else {"brandVoiceId": brand_identity_id}


def _named(disabled: Disabled) -> dict[str, str]:
    return {"id": disabled.id, "name": disabled.name}
