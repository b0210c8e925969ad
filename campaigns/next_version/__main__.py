"""`python -m campaigns.next_version …`: `contentsvc` as a next version with one more migration.

The migration is applied to a database that nodes of this version serve, and its nodes serve beside them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from contentsvc_adapters import sql
from contentsvc_adapters.sql.migrations import migrate
from contentsvc_cli.main import main

if TYPE_CHECKING:
    from alembic.config import Config

_VERSIONS: Final = Path(__file__).with_name("versions")

_config = migrate._config  # pyright: ignore[reportPrivateUsage]  # the folder of the migrations is the code's own


def _with_one_more() -> "Config":
    config = _config()
    own_value = Path(str(config.get_main_option("script_location"))) / "versions"
    config.set_main_option("version_locations", f"{own_value}:{_VERSIONS}".replace("%", "%%"))
    return config


# Before the drivers are imported, because they read it from there.
sql.HEAD = migrate.HEAD = f"{int(migrate.HEAD) + 1:04}"  # pyright: ignore[reportConstantRedefinition]  # the next one
migrate._config = _with_one_more  # pyright: ignore[reportPrivateUsage]  # see above
main(prog_name="contentsvc")
