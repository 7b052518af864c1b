"""Narration, judge and encoder beside their peers."""
