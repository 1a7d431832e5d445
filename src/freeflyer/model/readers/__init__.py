"""Readers: robot files to `Description`. Each parser library is imported when its first file is read."""
