"""What was found for one task, used for others (ETO, Fang et al., PVLDB 15(2), 2022).

A task whose loops resemble those of a tuned one needs few programs of its own: its search keeps to
what the other's good programs suggest.

    family.py           which operators are of one type, and the bridges between them
    correspondence.py   one operator's program as programs of another
    ranges.py           what a good program may take of the hardware, given a relative's
    strategy.py         the few programs that are measured
    graph.py, flow.py   which task reuses which, at the least cost
"""
