"""Forms of words that no rule of endings brings to their base."""

from __future__ import annotations

from typing import Final

IRREGULAR: Final = {
    form: forms.split()[0]
    for forms in """
show shown, wake woke woken, awake awoke awoken, blow blew blown, bite bitten, freeze froze frozen, hang hung, stick
stuck, dig dug, shine shone, swing swung, sink sank sunk, shrink shrank shrunk, tear tore torn, swear swore sworn,
bend bent, lend lent, mean meant, dream dreamt, deal dealt, lead led, feed fed, hear heard, creep crept, weep wept,
kneel knelt, seek sought, fight fought, strike struck, spin spun, beat beaten, cling clung, learn learnt, burn burnt,
spill spilt, spoil spoilt, leap leapt, lean leant, smell smelt, spell spelt, forgive forgave forgiven, become became,
overcome overcame, understand understood, withdraw withdrew withdrawn, oversleep overslept, undergo underwent, mistake
mistook mistaken, breed bred, bleed bled, flee fled, stride strode, stink stank, tread trod, undo undid undone, unwind
unwound, fry fried fries, dry dried dries, cry cried cries, try tried tries, scarf scarves, loaf loaves, wolf wolves,
calf calves, thief thieves, goose geese, wife wives, man men, woman women, write wrote written writes writing, run ran
runs running, sing sang sung sings singing, speak spoke spoken, take took taken taking, make made making, eat ate
eaten, drink drank, give gave given giving, go went gone goes going, come came coming, wear wore worn, keep
kept, sleep slept asleep, feel felt, leave left leaves leaving, draw drew drawn, drive drove driven driving, hide hid
hidden hides hiding, ride rode ridden, rise rose risen, break broke broken, choose chose chosen choosing, bring
brought, buy bought, think thought, teach taught, catch caught, sit sat sitting, stand stood, begin began begun
beginning, build built, bake baking, tell told, sell sold, hold held, find found, meet met, swim swam swum, fall fell
fallen, grow grew grown, throw threw thrown, know knew known, sew sewed sewn, sweep swept, spend spent, send sent,
lose lost losing, light lit, pay paid, win won, shoot shot, child children, person people, mouse mice, foot feet,
tooth teeth, leaf leaves, knife knives, bus buses, shelf shelves, life lives, half halves, die died dying dies, cancel
cancelled cancelling, movie movies, travel travelled travelling, lie lying, tie tied tying, untie untied, journal
journaling journalling journals, ski skiing skis, weave wove woven weaving, ring rang rung, steal stole stolen, shake
shook shaken, forget forgot forgotten, fly flies flew flown flying
""".split(",")
    for form in forms.split()[1:]
}
"""The base of each form."""
