"""Are joins found that nobody declared, and the sets of tables that questions need?"""
