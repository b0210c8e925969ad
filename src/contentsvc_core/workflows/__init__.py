"""What an accepted event leads to: context records, triggers, runs."""
