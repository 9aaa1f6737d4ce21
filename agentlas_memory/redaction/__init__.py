"""Finding credentials: cheap triggers first, then rules by provider, shape and surroundings."""
