"""What a program costs, read off its nest: statements, features, estimates, resources.

Nothing here knows how a nest was made. Candidates of one space are scored as columns, thousands at
a time.
"""
