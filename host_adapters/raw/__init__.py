"""Scripts and hosts without a folder of their own."""
