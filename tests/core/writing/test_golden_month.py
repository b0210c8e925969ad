from pathlib import Path
from typing import Final

import pytest
from writing_samples import MONTH, written

from contentsvc_core.content.posts import ContentType

_FOLDER: Final = Path(__file__).parent / "month"


@pytest.mark.parametrize("content_type", ContentType)
def test_a_month_reads_like_this(content_type: ContentType) -> None:
    draft = written(content_type, *MONTH)
    assert f"{draft.title}\n\n{draft.markdown}" == (_FOLDER / f"{content_type.value}.txt").read_text("utf-8")
