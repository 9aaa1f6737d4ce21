"""What a person should look at: hostile, secret, stale or contradicting text, from anywhere."""
