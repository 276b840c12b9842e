"""Changes since an earlier audit: settings, and possible losses."""

from collections.abc import Iterable, Sequence

from casebook.questions.durability.analysis.rows import Difference, LossVerdict, SettingRow


def differences(
    before: tuple[Sequence[SettingRow], Sequence[LossVerdict]], after: tuple[Sequence[SettingRow], Sequence[LossVerdict]]
) -> tuple[Difference, ...]:
    """Return verdicts first, then settings; each by entity."""
    return (*_of_verdicts(before[1], after[1]), *_of_settings(before[0], after[0]))


def _of_verdicts(before: Iterable[LossVerdict], after: Iterable[LossVerdict]) -> Iterable[Difference]:
    old, new = {_key(row): row for row in before}, {_key(row): row for row in after}
    for key in sorted(old.keys() | new.keys(), key=lambda key: (int(key[0][1:]), key[1:])):
        was, now = old.get(key), new.get(key)
        if (was and was.severity) != (now and now.severity) or (was is None) != (now is None):
            severity = now.severity if now else was and was.severity
            yield Difference("verdict", entity_of(key), key[0], was and was.sentence, now and now.sentence, severity)


def _key(row: LossVerdict) -> tuple[str, str, str, str]:
    return row.rule, row.topic or "", row.producer or "", row.consumer or ""


def entity_of(key: tuple[str, str, str, str]) -> str:
    """``topic payments, producer billing``; ``cluster`` without a narrower entity."""
    parts = [f"{kind} {name}" for kind, name in zip(("topic", "producer", "consumer"), key[1:], strict=True) if name]
    return ", ".join(parts) or "cluster"


def _of_settings(before: Iterable[SettingRow], after: Iterable[SettingRow]) -> Iterable[Difference]:
    old, new = _by_key(before), _by_key(after)
    gone, come = ({entity for entity, _ in of} - {entity for entity, _ in other} for of, other in ((old, new), (new, old)))
    for entity in sorted(gone | come):
        yield Difference("setting", entity, "all", *(("there", None) if entity in gone else (None, "there")))
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was != now and key[0] not in gone | come:
            yield Difference("setting", *key, was, now)


def _by_key(rows: Iterable[SettingRow]) -> dict[tuple[str, str], str]:
    """Return value and origin; all of them when brokers disagree."""
    told: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        value = "unknown" if row.value is None else row.value or "not set"
        told.setdefault((row.entity, row.key), []).append(f"{value} ({row.origin})")
    return {key: " or ".join(sorted(set(values))) for key, values in told.items()}
