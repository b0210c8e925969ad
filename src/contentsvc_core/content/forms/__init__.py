"""The kinds of content that are written by rule, each shaped for its place: a brief in, a draft out."""

from contentsvc_core.content.forms.choice import silence, write_content

__all__ = ["silence", "write_content"]
