"""Public changelogs: pages and feeds that need no session and no API key."""
