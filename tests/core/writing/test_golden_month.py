from pathlib import Path
from typing import Final

import pytest
from writing_samples import MONTH, brief, check_golden

from contentsvc_core.content.posts import ContentType

_FOLDER: Final = Path(__file__).parent / "month"


@pytest.mark.parametrize("content_type", ContentType)
def test_a_month_reads_like_this(content_type: ContentType) -> None:
    check_golden(_FOLDER / f"{content_type.value}.txt", brief(content_type, *MONTH))
