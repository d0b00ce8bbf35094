"""The lists that the samplers draw from: the paper's tables 3, 4 and 5 in their order, and names of our own.

The tables are those of MemFail (arXiv 2605.26667, CC BY 4.0).
"""

from __future__ import annotations

from typing import Final

ENTITY_CATEGORIES: Final = ("person", "pet", "character")

# the order of tables 3 to 5 and of appendix B.2 decides what a seed draws: never sort these lists
CONDITION_TYPES: Final = tuple(
    """time_of_day day_of_week season time_elapsed
    weather temperature location noise_level lighting
    hunger_level energy_level pain_or_discomfort sobriety
    mood stress_level anxiety_level motivation_level
    company social_setting relationship_closeness
    task_type workload completion_state
    music_playing scent food_or_drink_present
    conflict_state approval_received request_made
    prior_activity frequency_cap streak_state""".split()
)
PET_CONDITION_TYPES: Final = tuple(
    "time_of_day weather temperature location noise_level lighting food_or_drink_present prior_activity company".split()
)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", ";").split(";") if part.strip())


PREFERENCE_CATEGORIES: Final = _listed(
    """foods; cuisines; types of desserts; drinks; coffee types; tea varieties; breakfast foods; street foods; snack types
    cocktail types; cooking methods; restaurant types
    music genres; types of movies; book genres; tv show genres; video game genres; podcast topics; comedy styles
    documentary subjects; types of concerts; types of museums; sports to watch on TV; types of theater
    sports; outdoor activities; physical exercises; fitness class types; martial arts styles; dance styles; cycling types
    swimming styles; types of yoga; hiking styles
    fashion styles; home decor styles; makeup styles; jewelry types; shoe styles; hair care styles; skincare routines
    bag styles; hat styles
    travel destinations; vacation types; nature environments; city neighborhood types; outdoor dining settings
    hobbies; crafts; art styles; photography styles; creative writing styles; musical instruments; types of puzzles
    journaling styles; home improvement projects; garden types; houseplants
    weekend activities; party activities; dating activities; types of social gatherings; board games; card games
    conversation topics
    programming languages; tech interests; academic subjects; skills to learn; languages to learn
    language learning methods; study techniques; note-taking methods; productivity methods
    mental health activities; meditation types; self-care activities; sleep habits; morning routine habits
    evening routine habits
    career fields; types of volunteering; investment types; budget planning methods
    social media content types; news formats; podcast formats; types of reading material; audio listening formats
    content creation types
    animals; dog breeds; collectibles; subscription box types; car types; home organization methods; types of naps
    camping styles; astrology interests"""
)

NAMES: Final = _listed(
    """Ava Thompson; Liam Carter; Maya Patel; Noah Brooks; Zoe Kim; Ethan Rivera; Priya Shah; Lucas Bennett; Sofia Nguyen
    Daniel Park; Elena Rossi; Marcus Lee; Amara Okafor; Jonas Weber; Hana Sato; Theo Laurent; Nia Williams; Ravi Iyer
    Clara Schmidt; Diego Alvarez; Yuki Tanaka; Sasha Petrov; Imani Johnson; Felix Andersen; Leila Haddad; Owen Murphy
    Anya Volkov; Caleb Foster; Mei Zhang; Tomas Costa"""
)

FLAVORS: Final = _listed(
    """a meticulous indoor gardener with strong opinions about humidity
    a lapsed competitive swimmer who now coaches youth weekend meets
    a sound engineer obsessed with vintage analog gear
    a part-time pastry chef who does math research on the side
    a long-distance hiker training for the Pacific Crest Trail
    a retired ER nurse who took up woodworking after retirement
    a beekeeper-turned-marketing-consultant who still keeps three hives
    an amateur astronomer who hates city light pollution
    a freelance translator working between Portuguese and Korean
    a cybersecurity researcher who collects vintage typewriters
    a former competitive figure skater now running a small tea shop
    a chef-instructor who teaches knife skills at a community college
    an opera singer who is also a part-time auto mechanic
    an architect specializing in adaptive reuse of old factories
    a wildlife photographer focused on owls in the Pacific Northwest
    a high-school chemistry teacher who restores vintage motorcycles
    a marathoner with a rare allergy to most stone fruits
    a bookbinder who designs board games on weekends
    a software engineer who breeds carnivorous plants
    a paramedic who plays cello in a community orchestra
    a former diplomat now running a pottery studio
    a cartographer obsessed with historic shipwrecks
    a dog trainer specializing in working breeds
    a forensic accountant who writes science fiction novels
    a glassblower with severe pollen allergies
    a sommelier transitioning to non-alcoholic beverage consulting
    a former orchestra conductor who now teaches sailing
    a museum conservator focused on 19th-century photographs
    a competitive bridge player who works as an actuary
    a backcountry ski guide who restores antique furniture in summer"""
)

# Our own names for people with an essay. They share no word with the list above, so that a stranger with one word of
# each is not in the store.
GIVEN_NAMES: Final = _listed(
    """Abena; Aldo; Anouk; Arjun; Astrid; Bashir; Beatriz; Bohdan; Brigid; Camille; Chidi; Dagny; Darius; Dunja; Efua
    Emre; Esperanza; Farid; Freya; Gaspard; Gulnara; Hamish; Henrike; Ingrid; Isidro; Jarmila; Javier; Kalinda; Kenji
    Kwame; Laszlo; Linnea; Lorcan; Malika; Mateja; Milan; Naoko; Nils; Oksana; Otto; Paloma; Piotr; Quentin; Ramona
    Rashid; Saoirse; Sefa; Silvio; Sunniva; Tariq; Thandi; Ulla; Umberto; Vesna; Viggo; Wanjiru; Xenia; Yannick; Zainab
    Zoltan"""
)
SURNAMES: Final = _listed(
    """Abara; Almeida; Asante; Baptiste; Beaumont; Bielski; Brandvold; Calloway; Castellano; Chukwu; Dahl; Delacroix
    Dobson; Eriksen; Escobar; Fairweather; Farouk; Fonseca; Galanis; Gruber; Haldane; Hashimoto; Horvat; Ibarra; Ivanek
    Jansen; Jokela; Kamau; Kaplan; Kowalczyk; Lindqvist; Lombardi; Macleod; Mahlangu; Marchetti; Mensah; Nakamura; Novak
    Obi; Ortega; Osei; Pellegrini; Quiroga; Rahimi; Ramsay; Rasmussen; Salonen; Santoro; Sharma; Szabo; Takala; Tembo
    Torvik; Underhill; Vance; Varga; Wessels; Yilmaz; Zapata; Zielinski"""
)
