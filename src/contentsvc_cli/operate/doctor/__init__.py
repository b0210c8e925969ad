"""``doctor``: checks of the installation, with suggested fixes."""
