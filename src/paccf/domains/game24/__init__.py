"""Game of 24: make 24 from four numbers. `world` is online; `oracle`, `tasks` and `truth`, which need it, are not."""
