"""Ledgers of processed records: said to be such, they are kept apart from what was produced."""

from casebook.case.case import Case
from casebook.collect.collection import collect_case


def test_kept_apart(tmp_path):
    """By group, under their own names; those of what was produced are not among them."""
    done, sent = tmp_path / "work.csv", tmp_path / "processed_orders.csv"
    done.write_text("id,topic,t\n1,orders,1700000000000\n")
    sent.write_text("id,topic,acked\n1,orders,true\n")
    case = Case.open(collect_case(tmp_path / "case", ledgers={"shop": [sent]}, processed={"billing": [done]}))
    assert case.processed_ledgers() == (("clients/billing/processed/work.csv", "billing"),)
    assert case.ledgers() == (("clients/shop/ledgers/processed_orders.csv", "shop"),)
    assert next(iter(case.text_lines("clients/billing/processed/work.csv"))).strip() == "id,topic,t"
