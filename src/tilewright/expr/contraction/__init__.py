"""What a contraction is to who has programs for products: groups, factors, what follows, chains."""
