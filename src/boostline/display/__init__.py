"""What people look at: terminals, pages, progress."""
