"""Are copies told from tables of their own, and does the original come first?"""
