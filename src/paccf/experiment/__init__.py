"""The main job: calibrate, freeze, deploy in matched pairs, at several budgets, from one file.

A spec says what to run (`spec`), a design is a spec brought to life (`design`), a job is one task of one cell (`work`),
an executor plays jobs (`processes`, `live`), and `phases` puts them in order over a run folder (`folder`).
"""
