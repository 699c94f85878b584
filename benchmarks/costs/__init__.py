"""Measurements of the costs that choose plans and decide about bursts on this machine."""
