"""The dashboard: an organization's pages in a browser (decisions/0022)."""
