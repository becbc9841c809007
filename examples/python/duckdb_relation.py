"""DuckDB: train on the result of a query, batch by batch, without writing it to a file."""

import duckdb

import greedystep

base = duckdb.connect()
base.execute("select setseed(0.5)")
base.execute("""
    create table visits as
    select i as id,
           ['news', 'sport', 'games'][1 + (random() * 3)::int % 3] as page,
           (random() * 24)::int as hour,
           random() * 60 as minutes
    from range(100000) as rows(i)
""")
base.execute("""
    create table labelled as
    select *, random() < 1 / (1 + exp(-(minutes / 10 - 3 + case page when 'games' then 1 else 0 end))) as clicked
    from visits
""")

model = greedystep.train(
    base.sql("select page, hour, minutes, clicked from labelled where id < 80000"), label="clicked"
)
test = base.sql("select page, hour, minutes, clicked from labelled where id >= 80000")
metrics = model.evaluate(test, label="clicked")
print({name: round(value, 4) for name, value in metrics.items()})
for name, weight, _importance in model.strongest(5):
    print(f"{name:>12} {weight:+.3f}")
assert metrics["auc"] > 0.8
assert abs({one.name: one.weight for one in model.strongest(5)}["minutes"] - 0.1) < 0.01
