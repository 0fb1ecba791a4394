"""What the paper proves about one frontier, as functions with the paper's symbols, and two simulations.

radius, regimes, elimination, samples, lower   the fixed-frontier theory, equation by equation
confidence, betting                            the paper's radius beside tighter ones that keep its promise
boundary                                       the controlled check: imposed bias, pruning, correct selection
frontiers                                      simulated frontier logs under the standing assumption
pictures                                       the drawings of ``paccf theory ... --plot``

Nothing here reads a file, knows a model, or imports another part of paccf. The bias allowance L of these
pages is an assumption that somebody has to bring; it is not the calibrated margin, a different object.
"""
