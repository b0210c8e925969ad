"""``python -m contentsvc_cli``."""

from contentsvc_cli.main import main

main(prog_name="contentsvc")
