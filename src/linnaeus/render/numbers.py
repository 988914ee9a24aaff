"""Numbers as text: thousands separators, few digits, suitable units."""

from __future__ import annotations

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def percent(share: float) -> str:
    """A share in percent; only zero is shown as 0 %.

    >>> percent(0.125), percent(0.00001), percent(0), percent(1)
    ('12.5 %', '<0.1 %', '0 %', '100 %')
    """
    if 0 < share < 0.0005:
        return "<0.1 %"
    return f"{share:.1%}".replace(".0%", "%").replace("%", " %")


def number(value: float) -> str:
    """A number with about three significant digits and thousands separators.

    >>> number(1234567), number(12.5), number(0.0312)
    ('1,234,567', '12.5', '0.0312')
    """
    if float(value).is_integer() or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "row"), counted(1234, "row")
    ('1 row', '1,234 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def size(count: float) -> str:
    """Bytes with a unit.

    >>> size(999), size(12_345_678)
    ('999 B', '12.3 MB')
    """
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 or count >= 100 else f"{count:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """Time with a unit.

    >>> duration(0.0312), duration(75), duration(7300)
    ('31 ms', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
