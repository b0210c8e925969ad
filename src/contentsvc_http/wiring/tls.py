from contentsvc_adapters.authorities import authorities, certificate_advice, failure_reason

__all__ = ["authorities", "certificate_advice", "failure_reason"]
