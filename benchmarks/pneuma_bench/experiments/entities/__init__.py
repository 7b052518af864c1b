"""What do the columns and values that a question mentions add to finding its tables?"""
