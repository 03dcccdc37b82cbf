"""An assessment to what is searched: the rows of weights, classes of requests, the carried query."""
