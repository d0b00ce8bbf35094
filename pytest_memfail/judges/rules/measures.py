"""The units in which quantities are told, each in terms of one that may stand for it."""

from __future__ import annotations

from typing import Final

MINUTES: Final = {
    **dict.fromkeys(("second", "seconds", "sec", "secs"), 1 / 60),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), 1.0),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), 60.0),
    **dict.fromkeys(("day", "days", "night", "nights"), 1440.0),
    **dict.fromkeys(("week", "weeks"), 10080.0),
}
UNITS: Final = {
    **dict.fromkeys(("percent", "percentage", "pct"), "%"),
    **dict.fromkeys(("degree", "degrees", "celsius", "centigrade", "fahrenheit", "c", "f"), "deg"),
    **dict.fromkeys(("decibel", "decibels", "db"), "db"),
    **dict.fromkeys(("lux",), "lux"),
    **dict.fromkeys(("mile", "miles"), "mile"),
    **dict.fromkeys(("kmh", "kph"), "km/h"),
    **dict.fromkeys(("pound", "pounds", "lb", "lbs"), "pound"),
    **dict.fromkeys(("ounce", "ounces", "oz"), "ounce"),
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes"), "ton"),
    **dict.fromkeys(("foot", "feet", "ft"), "foot"),
    **dict.fromkeys(("inch", "inches"), "inch"),
    **dict.fromkeys(("yard", "yards"), "yard"),
    **dict.fromkeys(("gallon", "gallons"), "gallon"),
    **dict.fromkeys(("pint", "pints"), "pint"),
    **dict.fromkeys(("cup", "cups"), "cup"),
    **dict.fromkeys(("knot", "knots", "kn", "kt", "kts"), "knot"),
}
SCALED: Final = {
    **dict.fromkeys(("millimetre", "millimetres", "millimeter", "millimeters", "mm"), (0.001, "metre")),
    **dict.fromkeys(("centimetre", "centimetres", "centimeter", "centimeters", "cm"), (0.01, "metre")),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "m"), (1.0, "metre")),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers", "km"), (1000.0, "metre")),
    **dict.fromkeys(("gram", "grams", "gramme", "grammes", "g"), (0.001, "kg")),
    **dict.fromkeys(("kilogram", "kilograms", "kilo", "kilos", "kg"), (1.0, "kg")),
    **dict.fromkeys(("millilitre", "millilitres", "milliliter", "milliliters", "ml"), (0.001, "litre")),
    **dict.fromkeys(("centilitre", "centilitres", "centiliter", "centiliters", "cl"), (0.01, "litre")),
    **dict.fromkeys(("litre", "litres", "liter", "liters"), (1.0, "litre")),
    **dict.fromkeys(("month", "months"), (1.0, "month")),
    **dict.fromkeys(("year", "years"), (12.0, "month")),
}
"""Measures that are often told in another size of the same unit."""
METRIC: Final = {
    "mile": (1609.344, "metre"),
    "yard": (0.9144, "metre"),
    "foot": (0.3048, "metre"),
    "inch": (0.0254, "metre"),
    "pound": (0.4536, "kg"),
    "ounce": (0.02835, "kg"),
    "gallon": (3.785, "litre"),
    "pint": (0.473, "litre"),
}
"""Measures of the one system in units of the other."""
CLOSE: Final = 0.02
MEASURES: Final[dict[str, tuple[float, str]]] = {
    **{word: (minutes, "time") for word, minutes in MINUTES.items()},
    **SCALED,
    **{word: (1.0, unit) for word, unit in UNITS.items()},
}
DEGREE: Final = "deg"
DEGREES: Final = frozenset(("degree", "degrees"))
SCALES: Final = {
    **dict.fromkeys(("celsius", "centigrade", "c"), "c"),
    **dict.fromkeys(("fahrenheit", "f"), "f"),
}
CENTURY: Final = "century"
ORDINALS: Final = {
    "fourteenth": 14,
    "fifteenth": 15,
    "sixteenth": 16,
    "seventeenth": 17,
    "eighteenth": 18,
    "nineteenth": 19,
    "twentieth": 20,
}
"""Centuries as they are spelled out."""
