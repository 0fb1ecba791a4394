"""Blocksworld, as PlanBench has it. `world` is online; `oracle`, and `tasks` and `truth` which need it, are not."""
