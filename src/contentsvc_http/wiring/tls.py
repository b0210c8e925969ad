from contentsvc_adapters.authorities import authorities, certificate_advice

__all__ = ["authorities", "certificate_advice"]
