"""One search, sans-IO: a controller yields what it wants and is sent what it gets.

`tree` and `effects` are the vocabulary, `controllers` the five algorithms, `driver` answers their effects with model
requests, `meter` holds the budget and the bill. Nothing here talks to a model, looks at a clock, or knows a solution
that the search has not found.
"""
