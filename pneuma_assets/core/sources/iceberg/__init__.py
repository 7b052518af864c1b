"""Iceberg tables, whether a catalogue or a folder says where they are."""
