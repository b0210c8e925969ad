"""Reads pages of sites that somebody has named."""
