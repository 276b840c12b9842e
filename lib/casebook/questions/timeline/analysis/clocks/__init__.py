"""By which clock each log speaks."""
