"""Prompts for language models: builds the prompt from a brief, and reads the model's answer. Pure functions."""

from contentsvc_core.content.prompting.answer import UnusableDraft, read_draft
from contentsvc_core.content.prompting.material import SMALLEST_LIMIT
from contentsvc_core.content.prompting.prompt import MATERIAL_LIMIT, Prompt, prompt_for

__all__ = ["MATERIAL_LIMIT", "SMALLEST_LIMIT", "Prompt", "UnusableDraft", "prompt_for", "read_draft"]
