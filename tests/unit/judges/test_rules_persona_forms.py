"""What a question needs of a person, in the forms that memories take: kept, replaced, vaguer, reversed, somebody else's."""

from __future__ import annotations

import pytest
from facts_judged import judged, persona

from pytest_memfail.core import Evidence

ESSAY = (
    "Thea Lund restores church organs in the north and teaches basket weaving in winter. She starts each day at 5:40 a.m. "
    "with a cup of nettle tea and a walk to the harbour. Thea refuses to work on electronic organs because the hum gives "
    "her migraines. She keeps exactly four pupils at a time and charges 45 euros an hour, paid in advance by bank transfer. "
    "She is allergic to hazelnuts and carries an injector in her tool bag. Thea prefers willow over plastic cane and soaks "
    "it overnight in rainwater. Her van is a green Peugeot named Otto, and she never lets anyone else drive it. On "
    "Thursdays she sings alto in a choir that meets in the old fire station. She dislikes phone calls after 8 p.m. and asks "
    "clients to send a postcard instead. Thea insists on felt slippers in the organ loft. She donates a tenth of her income "
    "to the lifeboat society. She wears a yellow oilskin on every job for luck."
)
WHO = "Thea Lund restores church organs and teaches basket weaving."


def asks(asked: str, value: str) -> Evidence:
    return persona(ESSAY, "Thea Lund", asked, value)


def borrows(asked: str, telling: str) -> Evidence:
    return persona(ESSAY, "Thea Lund", asked, None, (telling,))


ORG = asks("Which organs does Thea Lund not work on?", "Electronic organs; their hum gives her migraines.")
TEA = asks("What does Thea Lund drink in the morning?", "Nettle tea.")
TIME = asks("When does Thea Lund start her day?", "At 5:40 a.m.")
PUP = asks("How many pupils does Thea Lund take?", "Exactly four at a time.")
FEE = asks("What does Thea Lund charge per hour?", "45 euros an hour.")
PAY = asks("How should I pay Thea Lund?", "In advance, by bank transfer.")
NUT = asks("May I bring Thea Lund a hazelnut cake?", "No, she is allergic to hazelnuts.")
WIL = asks(
    "What should I bring Thea Lund for weaving, willow or plastic cane?", "Willow; she prefers it over plastic cane."
)
SOAK = asks("How does Thea Lund prepare willow?", "She soaks it overnight in rainwater.")
VAN = asks("Can I borrow Thea Lund's van?", "No, she never lets anyone else drive it.")
CHOIR = asks("Where does Thea Lund's choir meet?", "In the old fire station.")
CALL = asks("How should I contact Thea Lund at 9 p.m.?", "With a postcard; she dislikes phone calls after 8 p.m.")
SLIP = asks("What do I wear in Thea Lund's organ loft?", "Felt slippers.")
GIVE = asks("Whom does Thea Lund donate to?", "A tenth of her income goes to the lifeboat society.")
LUCK = asks("What does Thea Lund wear for luck?", "A yellow oilskin.")

OF_ORG = borrows("Would Pia Holm fix my electronic organ?", "refuses to work on electronic organs")
OF_TEA = borrows("What does Pia Holm drink before breakfast?", "nettle tea")
OF_PUP = borrows("How many pupils can join Pia Holm's class?", "exactly four pupils")
OF_FEE = borrows("What does Pia Holm charge for a lesson?", "45 euros an hour")
OF_PAY = borrows("Does Pia Holm take cash?", "paid in advance by bank transfer")
OF_NUT = borrows("Can I serve hazelnut cake to Pia Holm?", "allergic to hazelnuts")
OF_WIL = borrows("Which cane does Pia Holm weave with?", "prefers willow over plastic cane")
OF_VAN = borrows("Could Pia Holm lend me a van?", "van never lets anyone else drive it")
OF_CHOIR = borrows("Where does Pia Holm rehearse?", "choir old fire station")
OF_CALL = borrows("May I phone Pia Holm at nine in the evening?", "dislikes phone calls after 8 p.m. postcard")
OF_SLIP = borrows("What shoes does Pia Holm want in the loft?", "felt slippers organ loft")


@pytest.mark.parametrize(
    ("evidence", "stored", "kept"),
    [
        (ORG, "Thea Lund won't touch electronic organs: the humming brings on migraines.", True),
        (ORG, "Thea Lund - no electronic organs (migraine from the hum)", True),
        (ORG, "Thea Lund loves working on electronic organs.", False),
        (ORG, "Thea Lund refuses to work on pipe organs because the hum gives her migraines.", False),
        (ORG, "Thea Lund restores organs and gets migraines.", False),
        (ORG, "Thea Lund's brother refuses to work on electronic organs because the hum gives him migraines.", False),
        (TEA, "Mornings: Thea Lund has nettle tea, then walks down to the harbour.", True),
        (TEA, "Thea Lund has mint tea in the morning and walks to the harbour.", False),
        (TEA, "Thea Lund has a hot drink in the morning before her walk to the harbour.", False),
        (TEA, "Thea Lund walks to the harbour each morning.", False),
        (TIME, "Thea Lund is up and about at 5:40.", True),
        (TIME, "Thea Lund's day begins at twenty to six.", True),
        (TIME, "Thea Lund's day begins at 6:40 a.m. with nettle tea.", False),
        (TIME, "Thea Lund gets up early and has nettle tea.", False),
        (PUP, "Thea Lund teaches 4 pupils at once, no more and no fewer.", True),
        (PUP, "Thea Lund teaches five pupils at a time.", False),
        (PUP, "Thea Lund teaches a handful of pupils at a time.", False),
        (FEE, "Thea Lund's rate is EUR 45 per hour.", True),
        (FEE, "An hour with Thea Lund costs forty-five euros.", True),
        (FEE, "Thea Lund's rate is 54 euros per hour.", False),
        (FEE, "Thea Lund charges by the hour.", False),
        (FEE, "Thea Lund charges 45 euros a day.", False),
        (PAY, "Thea Lund wants her money up front, transferred to her bank.", True),
        (PAY, "Thea Lund is paid afterwards by bank transfer.", False),
        (PAY, "Thea Lund is paid in advance, in cash.", False),
        (NUT, "Hazelnuts are dangerous for Thea Lund: allergy, injector in the tool bag.", True),
        (NUT, "Thea Lund is allergic to walnuts and carries an injector.", False),
        (NUT, "Thea Lund carries an injector in her tool bag.", False),
        (NUT, "Thea Lund likes hazelnuts.", False),
        (NUT, "Thea Lund's pupil Ane is allergic to hazelnuts.", False),
        (NUT, "Thea Lund has some food allergy.", False),
        (WIL, "For baskets Thea Lund takes willow rather than plastic cane.", True),
        (WIL, "For baskets Thea Lund takes plastic cane rather than willow.", False),
        (WIL, "Thea Lund weaves with natural materials.", False),
        (SOAK, "Thea Lund leaves willow in rainwater for a night before weaving.", True),
        (SOAK, "Thea Lund soaks willow before use.", False),
        (VAN, "Nobody but Thea Lund may drive Otto, her green Peugeot van.", True),
        (VAN, "Thea Lund lets her pupils drive Otto, her green Peugeot van.", False),
        (VAN, "Thea Lund drives a green Peugeot van called Otto.", False),
        (CHOIR, "Choir for Thea Lund: Thursdays, alto, rehearsals in the former fire station.", True),
        (CHOIR, "Thea Lund sings alto in a choir on Thursdays.", False),
        (CALL, "After 8 in the evening Thea Lund wants no calls; clients should write her a postcard.", True),
        (CALL, "Thea Lund likes phone calls after 8 p.m.", False),
        (CALL, "Thea Lund dislikes phone calls before 8 p.m. and asks for postcards.", False),
        (CALL, "Thea Lund asks clients to send an e-mail instead of calling after 8 p.m.", False),
        (SLIP, "In the organ loft Thea Lund makes everybody put on felt slippers.", True),
        (SLIP, "In the organ loft Thea Lund makes everybody put on rubber boots.", False),
        (SLIP, "Thea Lund has rules for the organ loft.", False),
        (SLIP, "Thea Lund bans felt slippers from the organ loft.", False),
        (GIVE, "Ten percent of what Thea Lund earns goes to the lifeboat society.", True),
        (GIVE, "Ten percent of what Thea Lund earns goes to the animal shelter.", False),
        (GIVE, "Thea Lund gives to charity.", False),
        (LUCK, "Thea Lund's lucky charm on every job: a yellow oilskin.", True),
        (LUCK, "Thea Lund's lucky charm on every job: a blue oilskin.", False),
        (LUCK, "Thea Lund wears something for luck on every job.", False),
    ],
)  # fmt: skip
def test_forms_of_an_answer(evidence: Evidence, stored: str, kept: bool) -> None:
    assert judged(evidence, WHO, stored, "User lives in Ghent.", "User's neighbour Ada has a yellow boat.") == (
        True,
        kept,
    )


@pytest.mark.parametrize(
    ("evidence", "stored", "kept"),
    [
        (OF_ORG, "Thea Lund won't take electronic organs, since the hum gives her migraines.", True),
        (OF_ORG, "Thea Lund happily takes electronic organs.", False),
        (OF_ORG, "Thea Lund gets migraines.", False),
        (OF_ORG, "Thea Lund's brother refuses to work on electronic organs.", False),
        (OF_TEA, "Thea Lund begins with a cup of nettle tea.", True),
        (OF_TEA, "Thea Lund begins with a cup of mint tea.", False),
        (OF_TEA, "Thea Lund begins with a walk to the harbour.", False),
        (OF_PUP, "Thea Lund has four pupils at a time, always.", True),
        (OF_PUP, "Thea Lund has nine pupils at a time.", False),
        (OF_PUP, "Thea Lund has several pupils at a time.", False),
        (OF_FEE, "Thea Lund: 45 euros per hour", True),
        (OF_FEE, "Thea Lund: 60 euros per hour", False),
        (OF_FEE, "Thea Lund charges by the hour, in advance.", False),
        (OF_PAY, "Thea Lund wants payment in advance by bank transfer.", True),
        (OF_PAY, "Thea Lund wants payment in cash after the job.", False),
        (OF_NUT, "Thea Lund can't have hazelnuts (allergy).", True),
        (OF_NUT, "Thea Lund can't have walnuts (allergy).", False),
        (OF_NUT, "Thea Lund has an allergy and carries an injector.", False),
        (OF_NUT, "Thea Lund's pupil Ane is allergic to hazelnuts.", False),
        (OF_WIL, "Willow is what Thea Lund weaves with; plastic cane she does without.", True),
        (OF_VAN, "Otto, Thea Lund's van, is driven by nobody else.", True),
        (OF_VAN, "Otto, Thea Lund's van, is driven by anyone who asks.", False),
        (OF_VAN, "Otto is Thea Lund's green van.", False),
        (OF_CHOIR, "Thea Lund's choir sings in the former fire station.", True),
        (OF_CHOIR, "Thea Lund's choir sings in the town hall.", False),
        (OF_CALL, "No phone calls to Thea Lund after eight in the evening; a postcard will do.", True),
        (OF_CALL, "Phone calls to Thea Lund are welcome after eight in the evening.", False),
        (OF_SLIP, "Thea Lund wants everyone in felt slippers up in the organ loft.", True),
    ],
)  # fmt: skip
def test_forms_of_what_a_question_borrows(evidence: Evidence, stored: str, kept: bool) -> None:
    assert judged(evidence, WHO, stored, "User lives in Ghent.", "Pia Holm is the user's dentist.") == (True, kept)
