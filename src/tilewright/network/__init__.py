"""A partitioned model as one native function: what runs when, and in which memory.

    linker.py ─► actions and a memory plan ─► entry.py: LLVM IR   ─► executor.py: a Network
                                              launches.py: a GPU's

`memory.py` places the values, `variants.py` is one function for several shapes.
"""
