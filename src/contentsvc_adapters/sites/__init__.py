"""Reads pages of sites that users have named."""
