from contentsvc_core.content.forms.choice import silence, write_content

__all__ = ["silence", "write_content"]
