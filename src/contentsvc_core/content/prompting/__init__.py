"""Asking a language model for content: what it is told, and how its answer is read. Pure, as every rule here."""

from contentsvc_core.content.prompting.answer import UnusableDraft, read_draft
from contentsvc_core.content.prompting.material import SMALLEST_LIMIT
from contentsvc_core.content.prompting.prompt import MATERIAL_LIMIT, Prompt, prompt_for

__all__ = ["MATERIAL_LIMIT", "SMALLEST_LIMIT", "Prompt", "UnusableDraft", "prompt_for", "read_draft"]
