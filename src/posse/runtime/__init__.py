"""The only home of the event loop, wall clock and signals: wires everything into one process."""
