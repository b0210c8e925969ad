import atexit
import gc
import os
import sys
from typing import Final

#: The garbage collector's threshold (:func:`gc.set_threshold`). A command imports some 60,000 objects that stay: with
#: the default of 700, scanning them takes a tenth of its processor time.
YOUNGEST: Final = 300_000


def run() -> None:
    gc.set_threshold(YOUNGEST)
    ended: list[int] = []
    # Registered first, so that it runs after all other exit handlers.
    atexit.register(_leave, ended)

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        # A stream that the shell has closed. The database would be opened with its number.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # until the process ends

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None and not sys.stdout.encoding.lower().startswith("utf"):
        # A locale without UTF-8 must not end a command at the first character that it lacks.
        reconfigure(errors="backslashreplace")

    try:
        # Imported late: click is most of the cost of `--help`, and the threshold must be set before.
        from contentsvc_cli.main import main  # noqa: PLC0415

        main(prog_name="contentsvc")
    except SystemExit as exc:
        if isinstance(exc.code, int):
            ended.append(exc.code)
        raise
    except KeyboardInterrupt:
        # While modules are imported; click answers a later one in the same way.
        sys.exit("Aborted!")


def _leave(ended: list[int]) -> None:
    if not ended:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        # The interpreter reports an error of a stream.
        return
    os._exit(ended[0])


if __name__ == "__main__":
    run()
