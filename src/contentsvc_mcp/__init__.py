"""A driver for AI agents: tools over the use cases, offered by the Model Context Protocol (MCP)."""
