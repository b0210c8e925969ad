"""What the ports are made of: stores, an engine, a clock, encryption, markup."""
