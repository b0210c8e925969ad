"""Which writer writes what."""

from contentsvc_core.content.changelog.writer import write_changelog
from contentsvc_core.content.forms.blog_post import write_blog_post
from contentsvc_core.content.forms.investor_update import write_investor_update
from contentsvc_core.content.forms.linkedin_post import write_linkedin_post
from contentsvc_core.content.forms.twitter_post import write_twitter_post
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Brief, Draft


def write_content(brief: Brief) -> Draft | None:
    """Write what a brief asks for, by rule: no clock, no chance, the same bytes each time.

    Returns:
        The draft, or ``None`` when there is nothing to report.
    """
    match brief.content_type:
        case ContentType.CHANGELOG:
            return write_changelog(brief)
        case ContentType.BLOG_POST:
            return write_blog_post(brief)
        case ContentType.LINKEDIN_POST:
            return write_linkedin_post(brief)
        case ContentType.TWITTER_POST:
            return write_twitter_post(brief)
        case ContentType.INVESTOR_UPDATE:
            return write_investor_update(brief)
