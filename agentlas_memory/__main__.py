"""`python -m agentlas_memory` is the management command."""

from agentlas_memory.cli import main

if __name__ == "__main__":
    main()
