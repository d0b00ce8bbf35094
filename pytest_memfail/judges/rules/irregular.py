"""Forms of words that no rule of endings brings to their base."""

from __future__ import annotations

from typing import Final

FORMS: Final = {
    form: forms.split()[0]
    for forms in """
show shown, wake woke woken, awake awoke awoken, blow blew blown, bite bitten, freeze froze frozen, hang hung, stick
stuck, dig dug, shine shone, swing swung, sink sank sunk, shrink shrank shrunk, tear tore torn, swear swore sworn, bend
bent, lend lent, mean meant, dream dreamt, deal dealt, lead led, feed fed, hear heard, creep crept, weep wept, kneel
knelt, seek sought, fight fought, strike struck, spin spun, beat beaten, cling clung, learn learnt, burn burnt, spill
spilt, spoil spoilt, leap leapt, lean leant, smell smelt, spell spelt, forgive forgave forgiven, become became, overcome
overcame, understand understood, withdraw withdrew withdrawn, oversleep overslept, undergo underwent, mistake mistook
mistaken, breed bred, bleed bled, flee fled, stride strode, stink stank, tread trod, undo undid undone, unwind unwound,
fry fried fries, dry dried dries, cry cried cries, try tried tries, scarf scarves, loaf loaves, wolf wolves, calf
calves, thief thieves, goose geese, wife wives
""".split(",")
    for form in forms.split()[1:]
}
"""The base of each form; those of everyday words stand in `words`."""
