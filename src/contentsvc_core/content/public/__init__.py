"""Public changelogs: the posts that an organization shows to all readers, as values and pure functions."""
