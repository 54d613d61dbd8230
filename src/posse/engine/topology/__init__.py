"""Groups that must stay inside one domain of a node label: which domains there are, what each could hold, and the best."""
