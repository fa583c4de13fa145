"""A page about a tuning run, from its records.

    records ─► history.py: tasks, models, errors ─► figures.py: plots ─► page.py: one HTML file
                  clock.py: seconds of tuning      tasks.py: against the machine's limits

It sees records only. The programs' printed forms (`Program`) are handed in by
`tilewright.front.inspection`, which makes them from traces.
"""
