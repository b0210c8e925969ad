from contentsvc_adapters.sql.database import Database
from contentsvc_core.ports import SecretSealer


class SqlStore:
    """A store of one database. It keeps no rows between two calls."""

    def __init__(self, database: Database) -> None:
        self._database = database


class SealedStore(SqlStore):
    """A store that seals the secrets of its rows."""

    def __init__(self, database: Database, sealer: SecretSealer) -> None:
        super().__init__(database)
        self._sealer = sealer
