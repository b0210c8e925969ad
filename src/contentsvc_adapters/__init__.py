"""The implementations of the ports: stores, engines, writers, code hosts, clock, encryption, markup."""
