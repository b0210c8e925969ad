"""The task for a model, by content type: shape, length and tone."""

from typing import Final

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.posts import ContentType, by_content_type

#: The most hashtags of a post; an answer with more of them is shortened.
HASHTAG_LIMITS: Final = {ContentType.LINKEDIN_POST: 3, ContentType.TWITTER_POST: 1}

TASKS: Final = by_content_type(
    changelog="""\
Write a changelog for people who use the software.
- Order: "## " headings such as Breaking changes, Security, Added, Changed, Fixed, Performance, Documentation, Other \
changes; only those that have entries.
- Under each a list, one change in one item, in one sentence that says what is different for the reader. Say for each \
breaking change what readers have to do, if the material says it.
- Join changes that belong together; keep every change that a user can notice; sum up upkeep in one item.
- Link references and changes to their "url". End with "## Contributors" and the names, if there are any.
- For an announced release, its own notes come first, and the title names the tag.""",
    blog_post="""\
Write a blog post of 300 to 900 words; less if the material holds little.
- Begin with a short paragraph that says what is new and, if the material says it, why it matters to readers.
- Then sections under "## " headings, the most useful first, in whole sentences; a short list where that reads better.
- Leave out upkeep that no reader notices. Link to the "url" of what is spoken of, where that helps.
- End with what a reader can do next, if the material says it. No summary of what was just said.""",
    linkedin_post=f"""\
Write a LinkedIn post of 600 to 1,300 characters; less if the material holds little, and never more than 2,500, links \
included.
- Plain text: no headings, no emphasis, no Markdown links; a bare address at the end if one is worth it.
- The first line makes readers go on. Then two to four short paragraphs, or a short list that begins with "- ".
- One idea, told for professionals outside the team. No "@": accounts of the code host are other people's here.
- At most {HASHTAG_LIMITS[ContentType.LINKEDIN_POST]} hashtags, at the end.""",
    twitter_post=f"""\
Write one post for X of at most 240 characters, everything counted; emoji, and the signs of Chinese, Japanese and \
Korean, count twice.
- Plain text: no headings, no emphasis, no Markdown links, no list. One idea, the most useful one.
- At most 1 bare address and {HASHTAG_LIMITS[ContentType.TWITTER_POST]} hashtag. No "@": accounts of the code host \
are other people's here.""",
    investor_update="""\
Write the product part of an update to investors, 200 to 500 words; less if the material holds little.
- Sober and plain; no jargon of programmers without its meaning.
- Begin with a paragraph that says what was achieved. Then "## " headings: what shipped, what it is for, and risks or \
breaking changes if there are any.
- Speak of no revenue, users, growth, funding or plans: the material knows nothing of them.
- Numbers only where the material has them.""",
)

TONES: Final = {
    ToneProfile.CONVERSATIONAL: "Conversational: as to somebody across the table; contractions are welcome.",
    ToneProfile.PROFESSIONAL: "Professional: clear, factual and friendly; no slang, no superlatives.",
    ToneProfile.CASUAL: "Casual: light and short; a little humour where nothing is at stake.",
    ToneProfile.FORMAL: "Formal: whole sentences, no contractions, no humour.",
}
