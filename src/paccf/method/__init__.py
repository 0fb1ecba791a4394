"""The paper's method: admission rules, deficits, conformal ranks, certificates.

No model, no clock; the certificate file is the only I/O. Import from the files themselves: `admission`, `deficit`,
`conformal`, `certificate`, `tails`.
"""
