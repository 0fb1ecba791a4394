"""The domains: states, prompts, transitions and verifiers. Solution information is in an `oracle` module apart."""
