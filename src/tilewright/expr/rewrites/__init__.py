"""The same values by other expressions: Winograd, online softmax, sums without zero terms."""
