"""The same values by other expressions: Winograd, online softmax, sums without zero terms, rows as
one dimension.
"""
