"""Output for people: terminals, pages, progress."""
