"""Commands for content: posts, their schedules, style and publication."""
