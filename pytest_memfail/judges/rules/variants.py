"""Everyday words for the same thing, and words that carry a name without being it."""

from __future__ import annotations

from typing import Final

VARIANTS: Final = tuple(
    """
    soccer football footie
    run jog
    film movie cinema flick
    cycle bike bicycle biking cycling cyclist bicycling
    hike trek rambling hillwalking
    tv television telly
    aubergine eggplant
    courgette zucchini
    coriander cilantro
    sweater jumper pullover
    trainers sneakers
    trousers pants
    cookie biscuit
    fries chips
    doughnut donut
    hummus houmous humus
    barbecue bbq barbeque
    vacation holiday
    apartment flat
    truck lorry
    subway underground metro
    tram streetcar
    cozy cosy
    diary journal
    rucksack backpack knapsack
    photography photo photograph photographing
    gym fitness
    garden gardening gardener
    bake baking baker
    paint painting painter
    swim swimming swimmer
    dance dancing dancer
    knit knitting knitter
    sail sailing sailor
    ski skiing skier
    surf surfing surfer
    fish fishing angling
    sew sewing
    yogurt yoghurt
    pajamas pyjamas
    jewelry jewellery
    mustache moustache
    whisky whiskey
    program programme
    grey gray
    airplane plane aeroplane
    car automobile auto
    kayak kayaking
    technology tech
    mathematics maths math
    refrigerator fridge
    advertisement ad advert
    autumn fall
    bunny rabbit
    cab taxi
    sofa couch
    documentary docs
    cryptocurrency crypto
    barbecue cookout
    """.strip().splitlines()
)
"""British and American, formal and everyday; the first stands for all."""

LIGHT: Final = frozenset(
    """playing play making make taking take going go doing do using use watching watch listening listen drinking drink
    eating eat visiting visit trying try attending having reading wearing practicing practising
    number learning called made based styled inspired themed oriented focused""".split()
)
"""What is done with everything of the kind: "playing guitar" is told by the guitar."""

CARRIERS: Final = frozenset(
    """tea coffee music cuisine food dish drink wine cheese genre technique method yoga dance cocktail language style
    sauce salad soup device class session""".split()
)
"""A last word that may go where what stays tells the thing: chamomile (tea), Pomodoro (technique)."""

WEIGHTY: Final = frozenset(
    """green black white red dark light hot iced cold hard soft sweet fresh road street electric modern classical natural
    slow fast loud live local spicy herbal instant blue cream fried grilled strong mild plain raw country folk world pop
    house sparkling fruit fish rice water milk potato chicken""".split()
)
"""First words that tell nothing without their head: green (tea)."""

GENERAL_HEADS: Final = frozenset(
    """class session lesson match game race event show film movie novel book series song track album concert music album
    practice routine style technique method system app tool framework type kind food dish meal drink bar shop hobby
    workout exercise sport party night evening morning weekend day time trip outing tour run walk ride break fan lover
    enthusiast buff person player playing puzzle set list channel episode content video post session training club
    group recipe plant flower pet breed language course dance dancing art artwork work piece poem design look outfit hat
    bag shoe top bike car ball pick favourite favorite choice grade option way approach fix treat snack
    wrap roll latte world scene service platform genre story hub area spot place setting machine
    adventure experience excursion expedition getaway exercise ritual moment performance gathering meetup stroll ramble""".split()
)
"""A last word that leaves the thing what it is: fedora (hat), tennis (match)."""

SORTING: Final = frozenset(
    """type kind sort style genre method technique activity activities routine topic format habit idea way project item
    preference taste favourite favorite option choice category categories thing practice form variety varieties""".split()
)
"""Words that sort things whatever they are: "cycling types", "the climbing sort of hydrangea"."""
