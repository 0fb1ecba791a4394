from paccf.domains.game24.tasks import solvable
from paccf.search.chance import shuffled


def tasks(domain, source, split, seed, count, without=(), data=None):
    pool = solvable()
    order = shuffled(len(pool), seed, domain, "tasks")
    half = len(pool) // 2
    order = order[:half] if split == "test" else order[half:]
    return tuple(pool[i] for i in order[:count])
