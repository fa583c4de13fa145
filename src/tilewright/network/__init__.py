"""A partitioned model as one native function: what runs when, and in which memory.

    linker.py ─► actions and a memory plan ─► entry.py: LLVM IR ─► link.py: a Network (executor.py)
                                              launches.py: a GPU's

`memory.py` places the values, `variants.py` is one function for several shapes, `kept.py` is the
form that stays in the user's cache.
"""
