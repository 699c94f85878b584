"""Detection of matches: the events of the last window are the state, and a kernel searches them."""
