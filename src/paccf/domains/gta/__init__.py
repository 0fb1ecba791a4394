"""GTA: plans of tool calls for questions about images. `world` is online; `oracle`, `truth` and `tasks` are not.

Recorded plans stand in a task's data, because the tool environment answers with recorded outputs; no prompt is made of
them.
"""
