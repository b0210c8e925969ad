"""The composition root: the only place of this driver where adapters are built."""
