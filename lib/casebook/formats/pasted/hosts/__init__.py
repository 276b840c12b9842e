"""What a host's own tools print, as it is pasted."""
