"""The learned cost model: its forest, what it is trained on."""
