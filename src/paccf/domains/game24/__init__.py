"""Game of 24: make 24 from four numbers. `world` is online; `oracle`, and `tasks` which needs it, are not."""
