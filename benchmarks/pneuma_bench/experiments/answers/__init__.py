"""Are questions answered rightly, in cells, and what does it cost?"""
