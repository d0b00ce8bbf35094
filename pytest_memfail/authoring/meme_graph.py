"""The graphs behind MEME-like episodes, and the outlines of episodes drawn from them.

The steps are those of MEME (arXiv 2605.12477, section 3.2): a root with its dependents, values, tasks by position in the graph,
right answers by propagation. Entities, values and sentences are our own.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

UNCERTAIN: Final = "Uncertain"
STEPS: Final = 4
"""The number of values of a tracked entity: the first one and three updates."""
COUNTED: Final = 3
"""The number of entities in an aggregation."""
BEFORE: Final = 6
"""The number of sessions with evidence before the change."""
AFTER: Final = 4
SESSIONS: Final = BEFORE + AFTER

BEGINNINGS: Final = tuple(
    """Ashk Bral Brem Corv Crill Dask Drem Eldr Ekl Fask Fenv Garv Glim Grov Hask Helv Ibr Istr Jarv Jorv Kelv Krel Lorv
    Lund Marv Mirv Nask Nerv Obr Oxt Pask Plov Quor Quil Rask Relv Skarv Sorv Tarv Tolv Ulv Ustr Varn Vesk Wesk Wolv Yarv
    Zelv Zorv""".split()
)
ENDS: Final = tuple(
    "adyne aveck ellane emmer enby idon illow imar indle iskel olt omby onder orrin osk ubel ulane umbel yssel yth".split()
)
"""An invented name consists of a beginning and an end. All names of an episode have different beginnings."""
NAME: Final = re.compile(rf"\b(?:{'|'.join(BEGINNINGS)})(?:{'|'.join(ENDS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity with a value. Its pool of values are forms, with a name for `{}` and a digit for `#`."""

    name: str
    source: str
    """The entity that it depends on; empty if there is none."""
    is_exact: bool
    """Whether its value is a text that must be kept verbatim."""
    sentence: str
    question: str
    forms: tuple[str, ...]

    def says(self, value: str) -> str:
        """Return the sentence in which a user states the value."""
        return self.sentence.replace("{}", value)

    def clause(self, value: str) -> str:
        """Return that sentence as a clause."""
        said = self.says(value).rstrip(".")
        return said if said.startswith("I ") else said[0].lower() + said[1:]

    @property
    def words(self) -> str:
        """Return the name in words."""
        return self.name.replace("_", " ")


def _read(table: str) -> dict[str, Entity]:
    entities = {}
    for line in table.strip().replace("\n ", " ").splitlines():  # an indented line continues the previous one
        name, source, sentence, question, forms = (cell.strip() for cell in line.split("|"))
        is_exact = source == "exact"
        listed = tuple(form.strip() for form in forms.split(";"))
        entities[name] = Entity(name, "" if is_exact else source, is_exact, sentence, question, listed)
    return entities


@dataclass(frozen=True)
class Domain:
    """One graph, with the subjects of its filler sessions."""

    code: str
    name: str
    setting: str
    owner: str
    entities: Mapping[str, Entity]
    topics: Sequence[str]

    @cached_property
    def roots(self) -> list[str]:
        """Return the entities that others depend on and that depend on no other."""
        return [e.name for e in self.entities.values() if not e.source and self.children(e.name)]

    def children(self, name: str) -> list[str]:
        """Return the entities that directly depend on an entity."""
        return [entity.name for entity in self.entities.values() if entity.source == name]

    def descendants(self, name: str) -> list[str]:
        """Return the entities that depend on an entity, directly or indirectly."""
        return [found for child in self.children(name) for found in (child, *self.descendants(child))]

    def chains(self, root: str) -> list[tuple[str, str, str, str]]:
        """Return the candidates for a cascade at one and two hops, and for an absence at one and two hops."""
        return [
            (first, second, lost, lost_later)
            for first, lost in itertools.permutations(self.children(root), 2)
            for second in self.children(first)
            for lost_later in (*self.children(first), *self.children(lost))
            if lost_later != second
        ]

    def mine(self, name: str) -> str:
        """Return an entity in the words of its owner: "my spare key spot"."""
        return f"{self.owner} {self.entities[name].words}"

    @cached_property
    def value_pattern(self) -> re.Pattern[str]:
        """Return a pattern that matches a value of any pool, with any name."""
        forms = {re.escape(form) for entity in self.entities.values() for form in entity.forms}
        shaped = (form.replace(r"\{\}", r"[A-Z][\w'’-]+").replace(r"\#", r"\d") for form in sorted(forms))
        return re.compile("|".join(rf"(?<!\w){form}(?!\w)" for form in shaped))

    def strange_values(self, text: str, given: str) -> list[str]:
        """Return the invented names and pool values in a text that are not in the given facts."""
        known = given.casefold()
        found = (*NAME.findall(text), *self.value_pattern.findall(text))
        return sorted({value for value in found if value.casefold() not in known})


def _topics(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", ";").split(";"))


PERSONAL: Final = Domain(
    "pl",
    "personal_life",
    "private life; the assistant is a personal one",
    "my",
    _read(
        """
employer | | I work at {}. | Where do I work? | {} Freight; {} Print Works; {} Glassworks
commute | employer | I travel to work with {}. | How do I travel to work? | the {} tram; the {} ferry; the {} night bus
lunch_place | employer | I eat lunch at {} on workdays. | Where do I eat lunch on workdays? |
    {} Noodle Bar; the {} canteen
gym | employer | I train at {}. | Which gym do I train at? | {} Barbell Club; {} Boxing Hall
after_school_care | commute | My daughter stays at {} after school. | Where does my daughter stay after school? |
    {} Playgroup; the {} nursery
commute_podcast | commute | I listen to {} on the way to work. | What do I listen to on the way to work? |
    the {} Hour; {} Weekly Talk
lunch_companion | lunch_place | I share my lunch table with {}. | Who shares my lunch table? |
    old {} from accounts; {} from the front desk
lunch_dish | lunch_place | My usual lunch dish is {}. | What is my usual lunch dish? | the {} stew; {} dumplings
trainer | gym | My trainer is {}. | Who is my trainer? | Coach {}; big {} from downstairs
gym_locker | gym | I keep my sports things in {}. | Where do I keep my sports things? | locker {} ##; cabinet {} ##
home_town | | I live in {}. | Which town do I live in? | Little {}; {} Cross; {} Harbour
doctor | home_town | I am a patient at {}. | Which doctor am I a patient of? | {} Surgery; the {} practice
internet_provider | home_town | My internet comes from {}. | Which provider does my internet come from? |
    {} Fibre; {} Broadband
evening_class | home_town | I take my evening class at {}. | Where do I take my evening class? |
    {} Night School; the {} workshop
pharmacy | doctor | I pick up my prescriptions at {}. | Where do I pick up my prescriptions? |
    {} Pharmacy; the {} dispensary
checkup_nurse | doctor | My check-ups are done by {}. | Who does my check-ups? | Nurse {}; Sister {}
router | internet_provider | My router is {}. | Which router do I have? | the {} Box ##; a {} Hub ##
class_partner | evening_class | I practise for the class with {}. | Who do I practise with for the class? |
    young {} from next door; {} the baker
dog_food | | My dog eats {}. | What does my dog eat? | {} trout bites; {} rabbit chunks
toothpaste | | I brush my teeth with {}. | What do I brush my teeth with? | {} Mint Paste; {} Chalk Paste
piano_teacher | | I take piano lessons from {}. | Who gives me piano lessons? | Maestro {}; Professor {}
book_club | | I read with a book club called {}. | What is my book club called? | the {} Readers; the {} Page Turners
dentist | | My dentist is at {}. | Where is my dentist? | {} Dental Rooms; {} Smile Studio
bakery | | I buy our bread at {}. | Where do I buy our bread? | {} Bakery; the {} oven
choir | | I sing in {}. | Which choir do I sing in? | the {} Singers; the {} Chorale
houseplant | | The plant on my window sill is {}. | What plant is on my window sill? | a {} fern; a {} ivy
spare_key_spot | | I hide the spare key {}. | Where do I hide the spare key? | under the {} jar; behind the {} clock
savings_bank | | I keep my savings at {}. | Where do I keep my savings? | {} Savings Bank; {} Credit Union
birthday_present | | I am giving my sister {} for her birthday. | What am I giving my sister for her birthday? |
    a {} scarf; a {} lamp
alarm_code | exact | My alarm code, to the letter, is {}. | What is my alarm code, to the letter? | ##-{}-###; {}/##.###
bedtime_rule | exact | The bedtime rule, word for word, is: {}. | What is the bedtime rule, word for word? |
    # pages of {}, lamp on, # taps on the wall; # songs, the {} blanket, door open # hands wide
policy_number | exact | My policy number, to the letter, is {}. | What is my policy number, to the letter? |
    PN-{}_####; {}:##/##-x
"""
    ),
    _topics(
        """how to get wax out of a tablecloth; a birthday speech for a colleague; what to cook with too many courgettes
        a stretch for a stiff neck; why the sky is red in the evening; packing for a weekend by the sea; a card for a neighbour
        how to start running; a film for a rainy evening; mending a drawer that sticks; naming a goldfish
        a riddle for children; how long soup keeps in the freezer; a polite way to turn down an invitation
        planting bulbs on a balcony; how sleep works; a quick breakfast; games for a long train ride; a toast for a wedding
        removing a scratch from a wooden table; what makes a good apology; learning to whistle; folding a fitted sheet
        how to keep a diary"""
    ),
)

SOFTWARE: Final = Domain(
    "sw",
    "software_project",
    "work on a software project; the assistant helps its team",
    "our",
    _read(
        """
cloud_provider | | Our service runs on {}. | Which cloud provider does our service run on? | {} Cloud; {} Hosting
deploy_tool | cloud_provider | We deploy with {}. | What do we deploy with? | {} Shipper; {} Rollout
log_store | cloud_provider | Our logs are kept in {}. | Where are our logs kept? | {} Logbook; the {} cellar
backup_store | cloud_provider | Our backups are kept in {}. | Where are our backups kept? | the {} vault; {} Deepfreeze
alert_channel | deploy_tool | Our deploy alerts arrive in {}. | Where do our deploy alerts arrive? |
    the {} hotline; the {} pager group
release_board | deploy_tool | We follow our releases on {}. | Where do we follow our releases? |
    the {} departure board; the {} wallscreen
log_viewer | log_store | We search our logs with {}. | What do we search our logs with? | {} Lens; {} Grep
log_keeper | log_store | Old logs are cleared by {}. | Who clears old logs? | {} from operations; {} from compliance
restore_drill_lead | backup_store | Our restore drill is led by {}. | Who leads our restore drill? |
    {} from storage; {} from the night shift
backup_scheduler | backup_store | Our backups are started by {}. | What starts our backups? | {} Cron; {} Timer
database | | We keep our customer data in {}. | Which database do we keep our customer data in? |
    {} Tables; {} Graphstore
migration_tool | database | We change the schema with {}. | What do we change the schema with? | {} Migrate; {} Upgrader
data_mapper | database | Our code reads the database through {}. | What does our code read the database through? |
    {} Mapper; {} Records
query_cache | database | Our queries are cached in {}. | Where are our queries cached? | {} Cache; the {} buffer
migration_reviewer | migration_tool | Our schema changes are reviewed by {}. | Who reviews our schema changes? |
    {} from the data team; {} from platform
schema_docs | migration_tool | Our schema is described in {}. | Where is our schema described? |
    the {} handbook; the {} codex
mapper_plugin | data_mapper | We check types with {}. | What do we check types with? | the {} sifter; the {} typewatch
cache_dashboard | query_cache | We watch the cache on {}. | Where do we watch the cache? |
    the {} gauge page; the {} meter wall
test_runner | | Our tests are run by {}. | What runs our tests? | {} Testbench; {} Runner
linter | | Our code is linted by {}. | What lints our code? | {} Lint; {} Stylecheck
issue_tracker | | Our bugs are filed in {}. | Where are our bugs filed? | {} Tickets; {} Tracker
design_tool | | Our screens are drawn in {}. | What are our screens drawn in? | {} Sketchpad; {} Canvas
standup_room | | Our stand-up takes place in {}. | Where does our stand-up take place? | the {} room; the {} corner
flag_service | | Our feature flags are kept in {}. | Where are our feature flags kept? | {} Flags; {} Toggles
mail_gateway | | Our mails are sent through {}. | What are our mails sent through? | {} Mailer; {} Postroom
translation_vendor | | Our texts are translated by {}. | Who translates our texts? | {} Translations; {} Languages
release_mascot | | The mascot of our next release is {}. | What is the mascot of our next release? |
    the {} otter; the {} heron
trial_customer | | Our trial customer is {}. | Who is our trial customer? | {} Dairies; {} Seaways
security_contact | | Security reports go to {}. | Who do security reports go to? | {} from legal; {} from the help desk
staging_passphrase | exact | The staging passphrase, to the letter, is {}. |
    What is the staging passphrase, to the letter? | ##-{}-####; {}.##_##
commit_rule | exact | The commit rule, word for word, is: {}. | What is the commit rule, word for word? |
    # words on {}, a ticket number, no full stop; the {} tag first, then # lines, then # initials
build_label | exact | The build label, to the letter, is {}. | What is the build label, to the letter? |
    {}+##/r###; rel_{}@#.##
"""
    ),
    _topics(
        """naming a helper function; how to say no in a code review; what a race condition is; an agenda for a retrospective
        a regular expression for dates; a joke for a release party; how to estimate a small change; why tabs or spaces matter
        explaining recursion to an intern; a polite reminder to a slow reviewer; sorting a list of versions
        how to write a good bug report; the difference between a stack and a queue; a title for a talk; keeping meetings short
        when to write a comment; how hashing works; a checklist for a first day; what makes tests flaky; rounding of numbers
        how to pair on a hard bug; a haiku about merge conflicts; time zones in a calendar; reading a stack trace"""
    ),
)
DOMAINS: Final = (PERSONAL, SOFTWARE)

VOICES: Final = (
    "chatty, drifts from one thing to the next",
    "brief and dry",
    "in a hurry, in short sentences",
    "warm, with a joke here and there",
    "exact, a little formal",
    "tired but in good humour",
)
WISHES: Final = ("a short list", "an explanation", "a draft", "two options to choose from", "an opinion")


@dataclass(frozen=True, slots=True)
class Given:
    """One fact that a session must state."""

    entity: str
    value: str
    text: str
    is_exact: bool
    """Whether the text must be stated verbatim."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """An episode without its conversations."""

    number: int
    domain: Domain
    voice: str
    root: str
    tasks: Mapping[str, str]
    """Entity to its role; the order is that of the questions."""
    before: Mapping[str, str]
    after: Mapping[str, str | None]
    steps: tuple[str, ...]
    """The values of the tracked entity, in order."""
    sources: Mapping[str, str]
    sessions: tuple[tuple[Given, ...], ...]

    def hop(self, entity: str) -> int:
        """Return the distance of a dependent entity from the root."""
        source = self.sources[entity]
        return 1 if source == self.root else 1 + self.hop(source)


def propagate(
    before: Mapping[str, str],
    sources: Mapping[str, str],
    rules: Mapping[tuple[str, str], str],
    changes: Mapping[str, str],
) -> dict[str, str]:
    """Return the value of each entity after some changes.

    A dependent keeps its value if its source does. Otherwise the rule for the new value of the source decides. Without a rule, the
    value is uncertain, and so are the values of its dependents.

    Args:
        before: the values before the changes.
        sources: maps each dependent entity to the one that it depends on.
        rules: maps a dependent entity and a value of its source to the resulting value.
        changes: the new values of entities that depend on no other.
    """

    def after(entity: str) -> str:
        source = sources.get(entity)
        if source is None:
            return changes.get(entity, before[entity])
        new = after(source)
        return before[entity] if new == before[source] else rules.get((entity, new), UNCERTAIN)

    return {entity: after(entity) for entity in before}


def draw(number: int, seed: int) -> Outline:
    """Return the outline of an episode (numbered from 1); the domains alternate."""
    rng = random.Random(f"{seed}:meme:{number}")
    domain = DOMAINS[(number - 1) % len(DOMAINS)]
    entities, names = domain.entities, _names(rng)

    def value(entity: str) -> str:
        form = re.sub("#", lambda _: str(rng.randint(2, 9)), rng.choice(entities[entity].forms))
        return form.replace("{}", next(names))

    root = rng.choice(domain.roots)
    first, second, lost, lost_later = rng.choice(domain.chains(root))
    inside = {root, *domain.descendants(root)}
    outside = [entity for entity in entities.values() if entity.name not in inside]
    recalled = rng.choice([entity.name for entity in outside if entity.is_exact])
    plain = [entity.name for entity in outside if not entity.is_exact]
    tracked, deleted, *counted = rng.sample(plain, 2 + COUNTED)
    tasks = {root: "root", recalled: "exact_recall", **dict.fromkeys(counted, "aggregation"), tracked: "tracking"}
    tasks |= {deleted: "deletion", first: "cascade", second: "cascade", lost: "absence", lost_later: "absence"}
    sources = {entity: entities[entity].source for entity in (first, second, lost, lost_later)}
    before = {entity: value(entity) for entity in tasks}
    changed, follows = value(root), value(first)
    rules = {(first, changed): follows, (second, follows): value(second)}
    resolved = propagate(before, sources, rules, {root: changed})
    steps = (before[tracked], *(value(tracked) for _ in range(STEPS - 1)))
    after: dict[str, str | None] = {**resolved, tracked: steps[-1], deleted: None}

    def base(entity: str) -> Given:
        return Given(entity, before[entity], entities[entity].says(before[entity]), entities[entity].is_exact)

    def rule(entity: str) -> Given:
        source = sources[entity]
        condition = entities[source].clause(resolved[source])
        text = f"If {condition} one day, {entities[entity].clause(resolved[entity])} from then on."
        return Given(entity, resolved[entity], text, True, "rule")

    def tie(entity: str) -> Given:
        said, source = entities[entity].says(before[entity]).rstrip("."), sources[entity]
        text = (
            f"{said}, but only as long as {entities[source].clause(before[source])}; nothing is settled for afterwards."
        )
        return Given(entity, before[entity], text, True)

    single = [base(entity) for entity in (recalled, tracked, deleted, *counted)]
    rng.shuffle(single)
    chain = [[base(root)], [base(first)], [rule(first)], [base(second)], [rule(second)], [tie(lost), tie(lost_later)]]
    early = [rng.sample([*facts, other], len(facts) + 1) for facts, other in zip(chain, single, strict=True)]
    updates = [Given(tracked, step, f"From now on {entities[tracked].clause(step)}.", False) for step in steps[1:]]
    change = Given(root, changed, f"Things have changed: {entities[root].clause(changed)} now.", False, "change")
    wish = f"Please forget {domain.mine(deleted)}: delete it and never bring it up again."
    events = [change, Given(deleted, "", wish, True, "deletion")]
    late = _late(rng, updates, events)
    sessions = tuple(tuple(facts) for facts in (*early, *late))
    voice = rng.choice(VOICES)
    return Outline(number, domain, voice, root, tasks, before, after, steps, sources, sessions)


def _names(rng: random.Random) -> Iterator[str]:
    for beginning in rng.sample(BEGINNINGS, len(BEGINNINGS)):
        yield beginning + rng.choice(ENDS)


def _late(rng: random.Random, updates: Sequence[Given], events: list[Given]) -> list[list[Given]]:
    """Return the sessions from the change on: each but one has an update; the other events are at random places."""
    free = rng.randrange(AFTER)
    sessions: list[list[Given]] = [[] for _ in range(AFTER)]
    for place, update in zip((at for at in range(AFTER) if at != free), updates, strict=True):
        sessions[place].append(update)
    rng.shuffle(events)
    for place, event in zip((free, rng.randrange(AFTER)), events, strict=True):
        sessions[place].insert(rng.randint(0, len(sessions[place])), event)
    return sessions
