"""Public changelogs: pages and feeds for everybody, without a session and without a key."""
