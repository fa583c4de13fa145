"""What was found for one task, used for others (ETO, Fang et al., PVLDB 15(2), 2022).

A task whose loops resemble those of a tuned one needs few programs of its own: its search keeps to
what the other's good programs suggest.

    family.py           which operators are of one type, and the bridges between them
    correspondence.py   one operator's program as programs of another
    ranges.py           what a good program may take of the hardware, given a relative's
    strategy.py         the few programs that are measured
    shapes.py           what blocks and threads may compute, and what that costs (shape_costs.py)
    rounds.py           the published tuner's programs, all of which hierarchical.py measures
    edges.py            what a reuse will measure, by either strategy
    graph.py, flow.py   which task reuses which, at the least cost
"""
