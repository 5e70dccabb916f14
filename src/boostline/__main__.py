"""``python -m boostline`` is the command ``boostline``."""

from boostline.cli import main

if __name__ == "__main__":
    main()
