"""Campaigns against the hook and the index: `scripts/fuzz/nightly.sh` runs them all."""
