"""Words by which it is told whose a preference is."""

from __future__ import annotations

from typing import Final

RELATIONS: Final = frozenset(
    """
    mother mom mum mama mommy mummy father dad papa daddy parent parents sister brother sibling siblings sis bro twin
    son daughter kid kids child children toddler baby aunt auntie uncle cousin niece nephew grandma grandmother gran
    granny grandpa grandfather grandparents grandson granddaughter husband wife spouse partner fiance fiancé fiancee
    fiancée boyfriend girlfriend ex stepmother stepfather stepsister stepbrother stepson stepdaughter godmother
    godfather mother-in-law father-in-law in-laws friend buddy pal mate bestie roommate flatmate housemate
    neighbor neighbour colleague coworker boss manager supervisor teammate classmate landlord landlady tenant
    teacher tutor coach trainer instructor professor student pupil client customer guest host intern assistant's
    doctor dentist therapist barista babysitter nanny stepdad stepmom stepmum stepsibling stepchild godson goddaughter
    godchild godparent grandchild grandchildren grandparent triplet widow widower workmate schoolmate bandmate mates
    physio physiotherapist chiropractor psychologist psychiatrist counsellor counselor nurse vet pharmacist dietitian
    dietician nutritionist hairdresser barber accountant lawyer mechanic plumber electrician cleaner gardener waiter
    waitress bartender librarian priest pastor rabbi imam mentor mentee apprentice trainee intern director bandleader
    conductor fiancés penpal caretaker janitor caregiver
    """.split()
)
"""Nouns for somebody else, who may have preferences too."""
USER: Final = frozenset("user i i'm i've i'd i'll speaker narrator we".split())
PRONOUNS: Final = frozenset("he she they".split())
FAVOURING: Final = frozenset(
    """favorite favourite favorites favourites thing passion pick choice love obsession preference taste go hobby idea
    domain specialty speciality habit weakness style drink dish sport game pride joy delight pleasure""".split()
)
DOING: Final = frozenset(
    """likes loves enjoys prefers adores hates dislikes avoids collects plays wears drinks eats cooks bakes watches reads
    swims runs rides teaches coaches owns buys grows knits sings paints draws writes studies lives wants
    thinks says finds uses orders picks chooses favours favors recommends swears dreams practises practices
    hosts visits travels cycles jogs hikes gets orders makes takes dances volunteers subscribes listens follows""".split()
)
"""What only a person does."""
LIKING_VERBS: Final = frozenset(
    """likes loves enjoys prefers adores hates dislikes avoids collects wears eats reads swears detests appreciates craves
    cherishes treasures favours favors fancies relishes savours savors loathes despises abhors shuns dreads""".split()
)
DOES: Final = LIKING_VERBS | DOING
FEELS: Final = LIKING_VERBS | frozenset(
    """raves gushes dotes enthuses rhapsodises rhapsodizes admires worships obsesses reads collects drinks says thinks
    goes keeps owns hums sings knits swims fancies gets reckons misses studies listens recommends praises""".split()
)
"""What only a person does, however many words stand between: "Priya from next door raves"."""
STRANGERS: Final = frozenset(
    """man woman guy gal girl boy lady gentleman bloke chap fellow couple family person someone somebody kids folks
    people crowd team crew students pensioner stranger""".split()
)
"""Somebody else where they are what a sentence begins with: "the couple across the hall loves"."""
WHEREABOUTS: Final = frozenset(
    """from at in of on upstairs downstairs next across down over opposite with who whom near behind above below along
    around by""".split()
)
"""What may begin the words between somebody and what they do."""
PETS: Final = frozenset("dog cat puppy kitten horse rabbit parrot hamster".split())
"""Somebody else only where the memory says whose they are."""
PLURAL_COMPANY: Final = frozenset("friends colleagues coworkers neighbors neighbours guests relatives".split())
POSSESSIVES: Final = frozenset("my our user's users his her their the a an one of speaker's".split())
BEFORE_PERSON: Final = frozenset(
    """older younger elder eldest oldest youngest little big best old close good dear new former late second next door
    downstairs upstairs current fellow whole entire pen band team gym work favourite favorite longtime childhood twin only
    middle ex great""".split()
)
SAYING: Final = frozenset("said says told tells asked asks mentioned mentions thinks thought explained noted".split())
SHARING: Final = frozenset("shares lives works sits studies rents sleeps teaches who".split())
"""What may begin a parenthesis behind a name that tells who somebody is."""
FIELDS: Final = frozenset("subject person who owner name speaker whose".split())
"""Labels of fields that say whom a note is about."""
PREPOSITIONS: Final = frozenset("with for from to by of at in on like than about and".split())
DID: Final = frozenset(
    "had went bought ate drank ran took gave got said told came wore made drove rode won sang".split()
)
INTRODUCED: Final = frozenset(
    "introduced got taught convinced inspired hooked turned encouraged showed recommended gave gifted lent bought".split()
)
COPULA: Final = frozenset("is are was were".split())
PASSIVE: Final = COPULA | {"get", "gets", "being", "be"}
BEFORE_OWNER: Final = frozenset("the my her his their users user's".split())
ANYONE: Final = frozenset("someone somebody people others".split())
"""Somebody else, if it is told "who"."""
EVERYONE: Final = frozenset("everyone everybody nobody".split())
USER_OBJECT: Final = frozenset("user me him her them us".split())
JOINS: Final = frozenset("but while whereas and because since although though says where when why that whose".split())
MOVING: Final = frozenset(
    """keeps keep helps help makes make calms calm lets let gives give cheers cheer suits suit soothes relaxes relax gets get
    reminds remind excites excite fascinates delights inspires energizes energises comforts saves brings pleases please appeals
    appeal charms thrills""".split()
)
"""Verbs whose object has the preference: "satire cheers her brother up"."""
CALENDAR: Final = frozenset(
    """feb mar apr jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday
    saturday sunday february march july september october november december""".split()
)
"""What begins with a capital in a date."""
NARRATED: Final = frozenset("user user's users he she".split())
FIRST_PERSON: Final = frozenset("i my me mine i'm i've i'd i'll".split())
