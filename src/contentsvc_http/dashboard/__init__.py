"""The dashboard: what an organization sees and does in a browser (decisions/0022)."""
