"""Several embeddings, shrunken.

The contrast of the list gender in four versions of the Google News vectors, each by itself and shrunken.
"""

import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
pairs = list(bb.load_list("gender_pairs").pairs)
kvs = {"as it is": kv, "hard": bb.debias(kv, "hard", definitional=pairs)}
kvs |= {f"soft, {k:g}": bb.debias(kv, "soft", definitional=pairs, strength=k) for k in (0.2, 2.0)}
tables = {name: bb.distance_table(one, "gender") for name, one in kvs.items()}
figure = bb.plots.plot_pool(bb.pool(tables))
