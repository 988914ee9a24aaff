"""Tags of the tokens of sentences."""
