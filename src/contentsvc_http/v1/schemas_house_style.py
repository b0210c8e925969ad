from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from contentsvc_core.content.house_style import HouseStyle, style_fault
from contentsvc_core.content.style_fields import read_style, style_schema
from contentsvc_core.refusals import Refusal
from contentsvc_http.errors import refuse_request

#: A house style in a request. The schema is for the OpenAPI document; the core's reader validates the value.
StyleInput: TypeAlias = Annotated[dict[str, Any], Meta(extra_json_schema=style_schema())]


def read_style_input(value: object, place: str) -> HouseStyle | None:
    """Return the house style of a request; ``None`` if no field is set. A 400 names a field below ``place``."""
    style = read_style(value)
    if isinstance(style, Refusal):
        refuse_request(style_fault(style, place))
    return style
