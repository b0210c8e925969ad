"""The dialects of SQL: everything that differs between SQLite and PostgreSQL."""

from contentsvc_adapters.sql.dialects.choice import dialect_of
from contentsvc_adapters.sql.dialects.dialect import DatabaseFault, Dialect
from contentsvc_adapters.sql.dialects.statements import Record, Statements
from contentsvc_adapters.sql.dialects.transactions import Transactions

__all__ = ["DatabaseFault", "Dialect", "Record", "Statements", "Transactions", "dialect_of"]
