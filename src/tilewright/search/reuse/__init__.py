"""What was found for one task, used for others, as in ETO (Fang et al., PVLDB 15(2), 2022).

A task whose loops resemble those of a tuned one needs few programs of its own: its search keeps to
what the other's best program suggests. `graph.py` decides which task reuses which.
"""
