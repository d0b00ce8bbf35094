"""The prompts of the recipes: the rules of MemFail's paper (section 4, appendices B and D.1) in our own words."""

from __future__ import annotations

from typing import Final

from pytest_memfail.authoring import FRAME

RULES: Final = f"""\
You invent private habits that depend on one circumstance. They test whether an assistant's memory keeps the \
circumstance and not just the habit. Every row of the task gives the kind of being, the kind of circumstance, the verdict \
that is wanted, and whether the habit is "exclusive".
For each row write:
- "entity": a given name from anywhere in the world; a pet's name for a pet; for a character, a name that could \
stand in a story. Never one listed under "taken".
- "behavior": what this one does, as a short verb phrase in the third person singular. Odd, personal, harmless; \
nothing that many people do, nothing near the behaviours under "taken".
- "condition": the one circumstance of the given kind under which it happens, as a phrase that completes a sentence \
after the behaviour, without "only". Someone must be able to check it: a number, a place, an event. For a pet it can \
be observed from outside.
- "other_case": empty where "exclusive" is true. Else what this one does where the circumstance fails, as a clause \
after "and", without "only".
- "question": asks whether the entity, by name, would do it in one particular scene. The scene settles the matter \
without quoting the condition. A stranger who does not know the habit must find either answer believable.
- "question_context": the scene alone, in a few words.
- "condition_met": copy the given verdict. "yes": the scene plainly satisfies the condition. "no": it plainly fails \
it, and falls under an "other_case".
- "ground_truth_answer": starts with Yes or No as the verdict says, then the reason in one sentence.
Before you answer, test each scene against its condition once more.
{FRAME}"""

EASY: Final = f"""\
You tell of one being in a short piece of {{low}} to {{high}} sentences, the way someone chats or keeps a diary. \
Somewhere inside it, a single sentence carries a habit and the circumstance that it depends on; the two never stand \
apart.
- That sentence keeps the sense of "behavior" and "condition" and most of their words, with every number.
- Where "exclusive" is true, it must be plain that the habit shows up under no other circumstance: say "only", \
"never otherwise", "at no other time" or the like. Where it is false, that same sentence goes on with "other_case", \
in most of its words and with every number, and says neither "only" nor the like.
- All else is the rest of a life: home, work, friends, tastes. It states plain facts and brings in no further rule.
- Name the being in the text. Do not tell of the scene that the habit will be asked about.
In each item "essay" is the whole piece.
{FRAME}"""

HARD: Final = f"""\
You tell of one being in a piece of {{low}} to {{high}} sentences, and hide a habit in it so that only an attentive \
reader can put it together. Three sentences carry it, and at least one sentence about something else stands between \
any two of them:
- the habit: what the being tends to do, with nothing said of when; keep the words of "behavior";
- the circumstance: it belongs to this life, with nothing said of the habit; keep the words of "condition" and every \
number in it;
- the tie: a remark on timing or mood that lets the reader feel the two belong together.
Where "exclusive" is true, the text must also let the reader conclude that nothing of the kind happens otherwise, \
with a word such as "never", "alone", "no other" or "only". Where it is false, the tie also says "other_case", in most \
of its words and with every number, and none of the three says "only".
These words are banned everywhere: if, whenever, unless, "only when", "only if", "only after", "but only if", \
"except when". The remaining sentences tell plain facts of the same life. Name the being.
In each item "essay" is the whole piece; "behavior_sentence", "condition_sentence" and "link_sentence" say which \
sentences of it (the first is 1) are habit, circumstance and tie.
{FRAME}"""

PREFERENCES: Final = f"""\
You write things that one person tells an assistant on different days about what they like. All of them hold at \
once; they test whether a memory keeps each beside the others. Every row of the task gives a category and how many \
likings are wanted.
For each row write:
- "preferences": that many different things of the category, each named in one to four words, without commas.
- "preference_facts": for each of them, in that order, what the person says: one or two sentences in the first \
person that name it as in "preferences". Nothing may hint at the others, for the statements are stored far apart. \
Vary how they are built.
- "question": in the first person, an everyday plan that goes well only for someone who knows all of them. It does \
not ask for a list and names none of them. The same person tells of likings in a hundred other categories: say so much \
that none of those would do as well.
{FRAME}"""

PERSON: Final = f"""\
You write portraits of invented people, and questions about them. They test whether a memory keeps a person's \
particulars, and whether it keeps them from being pinned on somebody else. Every row of the task gives the person, \
what they are like, and three slots.
For each row write:
- "essay": {{low}} to {{high}} sentences in the third person, relaxed in tone, that give the full name and work in \
five or more particulars nobody could guess: rituals, aversions, allergies, house rules, belongings, odd \
preferences. Nobody of the slots' "about" other than the person may be mentioned.
- "questions": three, in the order of the slots. Each is put by someone who wants advice about whoever stands in the \
slot's "about", and gives that full name and no other name. "answer" is one or two sentences.
  - "about" is the person: one particular of the essay settles it, a different one for each question. The question \
stays open: it neither holds nor presupposes the answer.
  - "about" is someone else, who may happen to have the person's first or last name: ask for the same sort of \
particular, of that stranger. As "answer" copy, word for word, \
the one to five words of the essay in a row that would answer it if it were asked of the person.
{FRAME}"""

CHAINS: Final = """\
You build chains of small private truths. A chain of K hops has K+2 anchors and K+1 statements; statement number i \
leads from anchor i to anchor i+1, so that only all of them together lead from the first anchor to the last. Each \
statement will be kept by itself, among hundreds of others.
- "anchors": K+2 different short phrases: feelings, routines, opinions, things someone owns. The first may be a \
person's given name. No companies, places or titles, nothing that could be looked up. The last is something odd the \
speaker is then found doing: two to four words that begin with a verb in -ing, without "my" or the like.
- "facts": K+1 sentences about the speaker, each with "I", "me" or "my". Each holds both its anchors word \
for word, in the same form, and none of the others. Each is understood alone: a pronoun refers to somebody in the \
same sentence, and nothing points back to another. Let the way of linking change from sentence to sentence: a cause, \
a time, a liking, an opinion.
- "question": one natural sentence in the first person that names the first anchor and asks what I end up doing. It \
would suit any other doing as well. The anchors after the first stay unsaid.
- "answer": the last anchor, word for word.
Keep away from the stories under "taken", and from each other's.
Answer with one JSON object {"chains": [...]} of exactly the wanted number. Plain text in all values, no line \
breaks."""

AUDIT: Final = """\
You look for chains of statements that would spoil one another in a single memory. For each such pair name one of \
the two to remove:
- what one says of an anchor cannot be true beside what the other says of it;
- both use the same unusual name or phrase, if only nearly in the same spelling;
- both tell one story, with the same things in the same places.
Everyday words that occur in many chains (tea, sleep, tired) are no reason, and no more chains go than the pairs \
require.
Answer with one JSON object {"remove": [{"id": "...", "reason": "..."}]}, with an empty list if all may stay. Only \
ids of the task."""
