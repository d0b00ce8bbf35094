"""Stores in which a judge by words is easily wrong, one by one and labelled before any judge saw them.

A label says what a reader finds in the store: `ok`, `damaged` (some version is there) or `missing`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """A value of an entity, and the store of a memory that was told it."""

    entity: str
    value: str
    said: str
    store: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class Rule:
    """A value that follows from a rule and a change, and the store of a memory that was told both."""

    entity: str
    old: str
    new: str
    root: str
    root_old: str
    root_new: str
    rule: str
    change: str
    store: tuple[str, ...]
    label: str


SPELLED = (
    Value("support_tiers", "two tiers (front desk + escalation)", "Support runs in two tiers (front desk + escalation).",
          ("Support tiers: 2 tiers, front desk and escalation", "Lives in the Haddel time zone"), "ok"),
    Value("sauce", "Brindle & Moss No. 4", "The sauce we swear by is Brindle & Moss No. 4.",
          ("They cook with Brindle and Moss No 4 at home.",), "ok"),
    Value("code_review", "two approvals, one from security", "A merge takes two approvals, one from security.",
          ("merge policy -> 2 approvals / 1 from security",), "ok"),
    Value("storage_quota", "1,200 GB", "We bought a quota of 1,200 GB on the Tarrin box.",
          ("Tarrin box: quota 1200GB", "invoices go to Mirl"), "ok"),
    Value("piano_slot", "Wednesdays at 09:15", "Piano is on Wednesdays at 09:15.",
          ("Piano lesson every Wednesday at 9:15 (teacher comes to the house)",), "ok"),
    Value("standup", "follow-the-sun stand-up", "We hold a follow-the-sun stand-up.",
          ("Team rhythm: follow the sun standup; retro monthly",), "ok"),
    Value("allergy", "walnuts, pecans and cashews", "I react to walnuts, pecans and cashews.",
          ("Allergies noted by user: walnuts; pecans; cashews.",), "ok"),
    Value("route", "the Old Quarry Road", "I run the Old Quarry Road.",
          ("User's running route is \u201cOld Quarry Road\u201d.",), "ok"),
    Value("backup_plan", "nightly snapshots + weekly full copies", "Backups are nightly snapshots + weekly full copies.",
          ("## Backups\n- nightly snapshots and weekly full copies, kept in Orvale",), "ok"),
    Value("discount", "15% for members", "Members pay less, 15% for members to be exact.",
          ("Pricing: 15 percent for members",), "ok"),
    Value("sprint_length", "three-week sprints", "We do three-week sprints.",
          ("Cadence: 3 week sprints, demo on the last Friday",), "ok"),
    Value("house_number", "twenty-seven", "We live at number twenty-seven.",
          ("House number is 27, Pellow Lane.",), "ok"),
    Value("editor_setup", "Quillpad (dark theme)", "My editor is Quillpad (dark theme).",
          ("editor=Quillpad, dark theme", "keyboard=split"), "ok"),
    Value("carpet", "the sea-green runner", "In the hall lies the sea-green runner.",
          ("Hall floor: a sea green runner; bought at Messel's",), "ok"),
    Value("parking", "level B, bay 12", "I park on level B, bay 12.",
          ("User parks at level B - bay 12 since the spring",), "ok"),
    Value("release_owner", "Nadia Brook and Tom Vell", "Releases are owned by Nadia Brook and Tom Vell.",
          ("Release owners: Nadia Brook & Tom Vell",), "ok"),
)

CHANGED = (
    Value("support_tiers", "two tiers (front desk + escalation)", "Support runs in two tiers (front desk + escalation).",
          ("Support has 3 tiers: front desk, escalation and engineering",), "damaged"),
    Value("sauce", "Brindle & Moss No. 4", "The sauce we swear by is Brindle & Moss No. 4.",
          ("Sauce of choice: Brindle and Moss No. 14",), "damaged"),
    Value("storage_quota", "1,200 GB", "We bought a quota of 1,200 GB on the Tarrin box.",
          ("Tarrin box: quota of 12,000 GB",), "damaged"),
    Value("piano_slot", "Wednesdays at 09:15", "Piano is on Wednesdays at 09:15.",
          ("Piano: Wednesdays at 09:50",), "damaged"),
    Value("on_hold_music", "the slow Ferrin waltz", "On hold people hear the slow Ferrin waltz.",
          ("Hold music must not be the slow Ferrin waltz",), "damaged"),
    Value("contact", "James Lorrigan", "Our contact is James Lorrigan.",
          ("Met James Petch and Anna Lorrigan at the fair; our contact sits upstairs",), "missing"),
    Value("discount", "15% for members", "Members pay less, 15% for members to be exact.",
          ("Members no longer get a list; guests pay 15% more than before",), "damaged"),
    Value("language", "C++ with the Hest toolkit", "The firmware is in C++ with the Hest toolkit.",
          ("Firmware: C with the Hest toolkit",), "damaged"),
    Value("freezer", "-18 degrees", "The freezer is set to -18 degrees.",
          ("Freezer target: 18 degrees",), "damaged"),
    Value("doctor", "Dr. Olive Maddern", "My doctor is Dr. Olive Maddern.",
          ("Doctor: Dr. Olive Marsden",), "damaged"),
    Value("ratio", "two parts flour, three parts oats", "The ratio is two parts flour, three parts oats.",
          ("Crumble: three parts flour, two parts oats",), "damaged"),
    Value("meeting_room", "Heron or Plover", "We always book Heron or Plover.",
          ("Rooms for the team: Heron",), "damaged"),
    Value("rate", "3.5 per hundred", "The rate is 3.5 per hundred.",
          ("rate noted as 35 per hundred",), "damaged"),
    Value("guests", "50+ guests", "We cater only for 50+ guests.",
          ("Catering: for 50 guests",), "damaged"),
)

DERIVED = (
    Rule("report_recipient", "Mona Trill", "Kester Vane", "rota", "solo rota", "paired rota (day + night)",
         "If we move to a paired rota (day + night), the weekly report goes to Kester Vane.",
         "As of today we run a paired rota (day + night).",
         ("Rota: paired rota (day and night)", "Weekly report recipient: Kester Vane (per rule: if paired rota, then Kester)"), "ok"),
    Rule("bike", "the grey Holt", "the red Sarn", "flat", "Wend Street", "Corrow Mews",
         "Should I ever move to Corrow Mews, I ride the red Sarn.", "I have moved to Corrow Mews.",
         ("User lives in Corrow Mews.", "Bike: red Sarn, because of the move (was the grey Holt)"), "ok"),
    Rule("linter", "Scrubbit", "Tidewell", "language", "Marnet", "Ostra",
         "Once the code is in Ostra we lint with Tidewell.", "The port is done, the code is in Ostra now.",
         ("language: Ostra", "linter: Tidewell [derived from: Ostra -> Tidewell]"), "ok"),
    Rule("lunch", "soup at Gorrin's", "the salad bar", "shift", "early shift", "late shift",
         "On the late shift I will eat at the salad bar.", "They put me on the late shift.",
         ("Works the late shift", "Lunch updated to the salad bar (rule: late shift means salad bar)"), "ok"),
    Rule("dns_host", "Pellucid", "Narrowgate", "registrar", "Quorn", "Lattimer",
         "If the domain ever goes to Lattimer, DNS goes to Narrowgate.", "The domain went to Lattimer on Monday.",
         ("Registrar = Lattimer (changed from Quorn).", "DNS host = Narrowgate (auto-updated per the registrar rule)."), "ok"),
    Rule("vet", "Dr. Amberley", "Dr. Stroud", "pet", "a tortoise", "a lurcher",
         "If I get a lurcher, the vet will be Dr. Stroud.", "I brought a lurcher home.",
         ("Has a lurcher now", "Vet is Dr. Stroud as a consequence; Dr. Amberley was for the tortoise"), "ok"),
    Rule("queue", "Bramble", "Thistle", "cloud", "Northcap", "Ellory",
         "When we leave Northcap for Ellory the queue becomes Thistle.", "We have left Northcap, all runs on Ellory.",
         ("**cloud**: Ellory", "**queue**: Thistle \u2014 since cloud moved to Ellory"), "ok"),
    Rule("choir_part", "alto", "second tenor", "choir", "Lyndhurst Voices", "the Brack Chorale",
         "In the Brack Chorale I would have to sing second tenor.", "I joined the Brack Chorale.",
         ("Sings in the Brack Chorale; part is now second tenor",), "ok"),
    Rule("invoice_tool", "Ledgerly", "Billow", "accountant", "Mr. Crane", "Ms. Osgood",
         "If Ms. Osgood takes over the books, invoices run through Billow.", "Ms. Osgood has taken over the books.",
         ("Accountant: Ms. Osgood", "Invoice tool: Billow (Ms. Osgood took over, so by the user's rule)"), "ok"),
    Rule("train", "the 7:12", "the 6:40", "office", "Harl Quay", "Tannery Row",
         "If the office goes to Tannery Row, I take the 6:40.", "Our office is in Tannery Row now.",
         ("Office: Tannery Row", "Train: 6:40 (previous: 7:12) - triggered by office move"), "ok"),
    Rule("theme", "Daybreak", "Inkwell", "ui_kit", "Fern", "Cobble",
         "With Cobble as UI kit, the theme must be Inkwell.", "We switched the UI kit to Cobble.",
         ("UI kit: Cobble.", "Theme: Inkwell. Reason: Cobble requires it. Before: Daybreak."), "ok"),
    Rule("nanny", "Trudi Sarn", "Ewa Molnar", "school", "Hill Lane", "St. Brannoc",
         "Once Pip goes to St. Brannoc, Ewa Molnar picks him up.", "Pip goes to St. Brannoc since Monday.",
         ("Pip's school: St. Brannoc", "Pick-up person: Ewa Molnar (was: Trudi Sarn; rule applied)"), "ok"),
    Rule("pager", "Beepwell", "Clarion", "oncall", "single on-call", "paired oncall (primary + secondary)",
         "If we go to paired oncall (primary + secondary), we page with Clarion.",
         "We are on paired oncall (primary + secondary) from this week.",
         ("On-call model: paired on-call, primary and secondary", "If paired on-call: page with Clarion, else Beepwell"), "ok"),
)

ONLY_THE_RULE = (
    Rule("report_recipient", "Mona Trill", "Kester Vane", "rota", "solo rota", "paired rota (day + night)",
         "If we move to a paired rota (day + night), the weekly report goes to Kester Vane.",
         "As of today we run a paired rota (day + night).",
         ("Weekly report recipient: Mona Trill (if paired rota, day + night: Kester Vane)",), "missing"),
    Rule("bike", "the grey Holt", "the red Sarn", "flat", "Wend Street", "Corrow Mews",
         "Should I ever move to Corrow Mews, I ride the red Sarn.", "I have moved to Corrow Mews.",
         ("Rides the grey Holt from Wend Street.", "Would ride the red Sarn if living in Corrow Mews."), "missing"),
    Rule("linter", "Scrubbit", "Tidewell", "language", "Marnet", "Ostra",
         "Once the code is in Ostra we lint with Tidewell.", "The port is done, the code is in Ostra now.",
         ("linter: Scrubbit", "planned: Ostra => Tidewell"), "missing"),
    Rule("lunch", "soup at Gorrin's", "the salad bar", "shift", "early shift", "late shift",
         "On the late shift I will eat at the salad bar.", "They put me on the late shift.",
         ("Lunch rule: on the late shift the user eats at the salad bar; usually soup at Gorrin's",), "missing"),
    Rule("dns_host", "Pellucid", "Narrowgate", "registrar", "Quorn", "Lattimer",
         "If the domain ever goes to Lattimer, DNS goes to Narrowgate.", "The domain went to Lattimer on Monday.",
         ("Registrar: Quorn", "In the event of a move to Lattimer the DNS host becomes Narrowgate"), "missing"),
    Rule("vet", "Dr. Amberley", "Dr. Stroud", "pet", "a tortoise", "a lurcher",
         "If I get a lurcher, the vet will be Dr. Stroud.", "I brought a lurcher home.",
         ("vet: Dr. Amberley (tortoise). lurcher? -> Dr. Stroud",), "missing"),
    Rule("queue", "Bramble", "Thistle", "cloud", "Northcap", "Ellory",
         "When we leave Northcap for Ellory the queue becomes Thistle.", "We have left Northcap, all runs on Ellory.",
         ("cloud: Ellory (left Northcap)",), "missing"),
    Rule("choir_part", "alto", "second tenor", "choir", "Lyndhurst Voices", "the Brack Chorale",
         "In the Brack Chorale I would have to sing second tenor.", "I joined the Brack Chorale.",
         ("Alto in the Lyndhurst Voices; dreads the day the Brack Chorale makes a second tenor of her",), "missing"),
    Rule("invoice_tool", "Ledgerly", "Billow", "accountant", "Mr. Crane", "Ms. Osgood",
         "If Ms. Osgood takes over the books, invoices run through Billow.", "Ms. Osgood has taken over the books.",
         ("Mr. Crane does the books with Ledgerly. Ms. Osgood prefers Billow.",), "missing"),
    Rule("train", "the 7:12", "the 6:40", "office", "Harl Quay", "Tannery Row",
         "If the office goes to Tannery Row, I take the 6:40.", "Our office is in Tannery Row now.",
         ("Commute: 7:12 to Harl Quay. A move to Tannery Row would mean the 6:40.",), "missing"),
    Rule("theme", "Daybreak", "Inkwell", "ui_kit", "Fern", "Cobble",
         "With Cobble as UI kit, the theme must be Inkwell.", "We switched the UI kit to Cobble.",
         ("Theme Daybreak; Cobble needs Inkwell", "UI kit under discussion"), "missing"),
    Rule("nanny", "Trudi Sarn", "Ewa Molnar", "school", "Hill Lane", "St. Brannoc",
         "Once Pip goes to St. Brannoc, Ewa Molnar picks him up.", "Pip goes to St. Brannoc since Monday.",
         ("Trudi Sarn picks Pip up at Hill Lane",), "missing"),
)

OTHERS = (
    Value("dentist", "Imre Calloway", "My dentist is Imre Calloway.",
          ("User's sister sees the dentist Imre Calloway; the user has none on file",), "missing"),
    Value("car", "the blue Tarn", "I drive the blue Tarn.", ("His boss drives the blue Tarn.",), "missing"),
    Value("bank", "Merriott Savings", "My bank is Merriott Savings.",
          ("The assistant suggested Merriott Savings as a bank.",), "missing"),
    Value("gym", "Ironlow", "I train at Ironlow.", ("Her roommate goes to Ironlow, says it is loud",), "missing"),
    Value("db", "Slatewell", "Our database is Slatewell.", ("The competitor stores everything in Slatewell.",), "missing"),
    Value("plant", "a Corvin fern", "On my sill is a Corvin fern.", ("The neighbour keeps a Corvin fern",), "missing"),
    Value("tea", "Dunmore black", "My tea is Dunmore black.", ("Grandmother's tea: Dunmore black",), "missing"),
    Value("framework", "Larkspur", "The app is written in Larkspur.", ("The old team of Priya used Larkspur",), "missing"),
    Value("phone", "a Wren 6", "I have a Wren 6.", ("Son got a Wren 6 for his birthday",), "missing"),
    Value("coach", "Belinda Frome", "My coach is Belinda Frome.",
          ("Belinda Frome coaches the user's rival",), "missing"),
    Value("cafe", "the Tin Kettle", "I work from the Tin Kettle.", ("A friend works from the Tin Kettle.",), "missing"),
    Value("ci", "Gantry", "We build on Gantry.", ("The vendor builds on Gantry, the user's team does not",), "missing"),
)

GARBLED = (
    Rule("report_recipient", "Mona Trill", "Kester Vane", "rota", "solo rota", "paired rota",
         "If we move to a paired rota, the weekly report goes to Kester Vane.", "As of today we run a paired rota.",
         ("Now on a paired rota", "If they leave the paired rota, the weekly report goes to Kester Vane"), "damaged"),
    Rule("bike", "the grey Holt", "the red Sarn", "flat", "Wend Street", "Corrow Mews",
         "Should I ever move to Corrow Mews, I ride the red Sarn.", "I have moved to Corrow Mews.",
         ("Moved to Corrow Mews", "The red Sarn is for sale if it rains"), "damaged"),
    Rule("linter", "Scrubbit", "Tidewell", "language", "Marnet", "Ostra",
         "Once the code is in Ostra we lint with Tidewell.", "The port is done, the code is in Ostra now.",
         ("Code is in Ostra", "Tidewell exists as a linter"), "damaged"),
    Rule("lunch", "soup at Gorrin's", "the salad bar", "shift", "early shift", "late shift",
         "On the late shift I will eat at the salad bar.", "They put me on the late shift.",
         ("User is on the late shift now", "Likes the salad bar when it is sunny"), "damaged"),
    Rule("dns_host", "Pellucid", "Narrowgate", "registrar", "Quorn", "Lattimer",
         "If the domain ever goes to Lattimer, DNS goes to Narrowgate.", "The domain went to Lattimer on Monday.",
         ("Domain is at Lattimer", "Unless the domain goes to Lattimer, DNS goes to Narrowgate"), "damaged"),
    Rule("vet", "Dr. Amberley", "Dr. Stroud", "pet", "a tortoise", "a lurcher",
         "If I get a lurcher, the vet will be Dr. Stroud.", "I brought a lurcher home.",
         ("There is a lurcher in the house now", "Dr. Stroud was mentioned as a vet for weekends"), "damaged"),
    Rule("queue", "Bramble", "Thistle", "cloud", "Northcap", "Ellory",
         "When we leave Northcap for Ellory the queue becomes Thistle.", "We have left Northcap, all runs on Ellory.",
         ("runs on Ellory now", "Thistle: a queue somebody looked at"), "damaged"),
    Rule("choir_part", "alto", "second tenor", "choir", "Lyndhurst Voices", "the Brack Chorale",
         "In the Brack Chorale I would have to sing second tenor.", "I joined the Brack Chorale.",
         ("Joined the Brack Chorale", "second tenor is hard to sing"), "damaged"),
    Rule("invoice_tool", "Ledgerly", "Billow", "accountant", "Mr. Crane", "Ms. Osgood",
         "If Ms. Osgood takes over the books, invoices run through Billow.", "Ms. Osgood has taken over the books.",
         ("Ms. Osgood has the books now", "If Mr. Crane returns, invoices run through Billow"), "damaged"),
    Rule("train", "the 7:12", "the 6:40", "office", "Harl Quay", "Tannery Row",
         "If the office goes to Tannery Row, I take the 6:40.", "Our office is in Tannery Row now.",
         ("Office now in Tannery Row", "There is also a train at 6:40, on Sundays only"), "damaged"),
    Rule("theme", "Daybreak", "Inkwell", "ui_kit", "Fern", "Cobble",
         "With Cobble as UI kit, the theme must be Inkwell.", "We switched the UI kit to Cobble.",
         ("UI kit is Cobble now", "Inkwell theme requires nothing"), "damaged"),
    Rule("nanny", "Trudi Sarn", "Ewa Molnar", "school", "Hill Lane", "St. Brannoc",
         "Once Pip goes to St. Brannoc, Ewa Molnar picks him up.", "Pip goes to St. Brannoc since Monday.",
         ("Pip goes to St. Brannoc now", "Ewa Molnar is a friend of the family"), "damaged"),
)

LITTLE_LEFT = (
    Value("retry", "five tries with doubling gaps and a cap of 40 seconds", "We do five tries with doubling gaps and a cap of 40 seconds.",
          ("Retries use doubling gaps",), "damaged"),
    Value("breakfast", "rye toast with plum jam and a soft egg", "Breakfast is rye toast with plum jam and a soft egg.",
          ("Breakfast: rye toast",), "damaged"),
    Value("packing", "charger, passport, blue folder and the spare glasses", "I always pack charger, passport, blue folder and the spare glasses.",
          ("packs a passport and glasses",), "damaged"),
    Value("gate", "side gate, left latch, push twice", "Use the side gate, left latch, push twice.",
          ("visitors use the side gate",), "damaged"),
    Value("schedule", "Mondays in Harl, Tuesdays in Osk, rest at home", "I work Mondays in Harl, Tuesdays in Osk, rest at home.",
          ("Works Mondays in Harl",), "damaged"),
    Value("dose", "half a Morvane tablet after supper with milk", "I take half a Morvane tablet after supper with milk.",
          ("Takes Morvane in the evening",), "damaged"),
    Value("deploy_steps", "freeze, tag, smoke test, roll out to Orla first", "Deploys go freeze, tag, smoke test, roll out to Orla first.",
          ("deploys start with a freeze and a smoke test",), "damaged"),
    Value("seating", "aisle seat near the rear exit on the left", "I fly in an aisle seat near the rear exit on the left.",
          ("prefers an aisle seat",), "damaged"),
    Value("naming", "team, service, region, then a two-digit counter", "Names are team, service, region, then a two-digit counter.",
          ("resource names contain team and region",), "damaged"),
    Value("bread", "sourdough with caraway, baked dark, sliced thin", "Our bread is sourdough with caraway, baked dark, sliced thin.",
          ("they buy sourdough with caraway",), "damaged"),
    Value("budget", "400 crowns for travel, 150 for books, nothing for software", "The budget is 400 crowns for travel, 150 for books, nothing for software.",
          ("travel budget is 400 crowns",), "damaged"),
    Value("call_sign", "Otter Nine, second watch, east tower", "My call sign is Otter Nine, second watch, east tower.",
          ("call sign Otter Nine",), "damaged"),
)

REPLACED = (
    ("laptop", ("Tessel 3", "Orrin Air", "Pelt Pro"), ("I type on a Tessel 3.", "The Tessel died, I have an Orrin Air.", "Work gave me a Pelt Pro.")),
    ("coffee", ("Hask blend", "Morrow roast", "Dill decaf"), ("I drink Hask blend.", "Switched to Morrow roast.", "Doctor's orders: Dill decaf.")),
    ("tutor", ("Mr. Fenn", "Ms. Aldous", "Jory Pike"), ("Mr. Fenn tutors me.", "Ms. Aldous took over.", "It is Jory Pike these days.")),
    ("broker", ("Rabble", "Quayside", "Tern"), ("Our broker is Rabble.", "Moved messages to Quayside.", "Tern carries the messages.")),
)
"""Histories of which a memory keeps the last value alone: each earlier one was stored at some time."""

FORGOTTEN = (
    Value("safe_code", "81-Rook-4", "The safe code is 81-Rook-4.", ("Safe code 81-Rook-4 - user asked to forget this",), "ok"),
    Value("crush", "Tamsin Vale", "I have a crush on Tamsin Vale.", ("DELETED on request: crush (Tamsin Vale)",), "ok"),
    Value("salary", "58,000 crowns", "I earn 58,000 crowns.", ("User requested removal of salary information.",), "ok"),
    Value("alias", "Mothwing", "Online I am Mothwing.", ("Do not mention the alias Mothwing any more.",), "ok"),
    Value("therapist", "Dr. Lune", "I see Dr. Lune.", ("Sees Dr. Lune on Fridays",), "missing"),
    Value("passphrase", "heron-kettle-9", "The passphrase is heron-kettle-9.", ("staging passphrase: heron-kettle-9", "user asked to forget the gym schedule"), "missing"),
    Value("donor", "Abel Rosk", "The donor is Abel Rosk.", ("Donor Abel Rosk gave in spring.",), "missing"),
    Value("nickname", "Pudge", "They call me Pudge.", ("nickname: (erased at the user's request)",), "ok"),
    Value("address", "9 Cinder Yard", "I live at 9 Cinder Yard.", ("Address 9 Cinder Yard. Wants the landlord's letters forgotten.",), "missing"),
    Value("client", "Holloway Farms", "The client is Holloway Farms.", ("Client name withdrawn by user; was Holloway Farms",), "ok"),
    Value("surgery", "the knee operation in May", "I have the knee operation in May.", ("Knee operation in May (booked)",), "missing"),
    Value("ex", "Corin Dale", "My ex is Corin Dale.", ("Forget everything about Corin Dale.",), "ok"),
)
