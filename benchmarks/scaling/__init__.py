"""The capacities of the parts of a cluster, measured on one machine, and a simulation of larger clusters over them."""
