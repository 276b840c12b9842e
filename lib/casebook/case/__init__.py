"""Case folders: layout, writing once, reading many times."""
