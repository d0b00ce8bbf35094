"""The offline judge on texts that are not English: what stands word for word is held, the rest is left ungraded."""

from __future__ import annotations

import unicodedata

import pytest
from facts_judged import claimed

from pytest_memfail.core import UNREAD, Claim, Fact, Listing, Memory, Part, Question
from pytest_memfail.judges.offline import OfflineJudge, is_foreign

QUESTION = Question("q", "custom", "?", "?", (), ("f",), "open")
LANGUAGES = {
    # what the user said, the fact, the fact in other words, an unrelated entry
    "German": (
        "Unser Hund frisst seit dem Sommer nur noch Fisch, weil er Huhn nicht verträgt.",
        "Der Hund des Nutzers frisst nur noch Fisch, weil er Huhn nicht verträgt.",
        "Wegen einer Unverträglichkeit bekommt der Hund kein Huhn, sondern Fisch.",
        "Der Nutzer sucht einen neuen Mantel für den Winter.",
    ),
    "French": (
        "Mon frère répare des vélos dans un garage près de la gare depuis deux ans.",
        "Le frère de l'utilisateur répare des vélos près de la gare depuis deux ans.",
        "Depuis deux ans, il a un frère qui remet des vélos en état à côté de la gare.",
        "L'utilisateur cherche une recette de soupe aux poireaux.",
    ),
    "Spanish": (
        "Desde enero tomo el café sin azúcar porque me lo pidió el dentista.",
        "El usuario toma el café sin azúcar desde enero por consejo del dentista.",
        "Por el dentista dejó de poner azúcar en el café en enero.",
        "El usuario quiere pintar la cocina de verde.",
    ),
    "Italian": (
        "La nostra caldaia si è rotta due volte e il tecnico torna lunedì mattina.",
        "La caldaia dell'utente si è rotta due volte e il tecnico torna lunedì mattina.",
        "Lunedì mattina viene di nuovo il tecnico per la caldaia guasta.",
        "L'utente legge gialli prima di dormire.",
    ),
    "Portuguese": (
        "Vendi o carro em março e agora vou de bicicleta para o escritório.",
        "O usuário vendeu o carro em março e vai de bicicleta para o escritório.",
        "Sem carro desde março, ele pedala até o escritório.",
        "O usuário prefere filmes antigos.",
    ),
    "Dutch": (
        "Mijn buurvrouw geeft de planten water als wij in juli op vakantie zijn.",
        "De buurvrouw van de gebruiker geeft in juli de planten water.",
        "In juli zorgt een buurvrouw voor de planten.",
        "De gebruiker drinkt liever thee dan koffie.",
    ),
    "Polish": (
        "Moja córka gra na skrzypcach i ćwiczy codziennie przed kolacją.",
        "Córka użytkownika gra na skrzypcach i ćwiczy codziennie przed kolacją.",
        "Przed kolacją córka zawsze ćwiczy grę na skrzypcach.",
        "Użytkownik szuka taniego hotelu nad morzem.",
    ),
    "Turkish": (
        "Kardeşim geçen hafta işten ayrıldı ve küçük bir fırın açmak istiyor.",
        "Kullanıcının kardeşi işten ayrıldı ve küçük bir fırın açmak istiyor.",
        "Kardeşi artık çalışmıyor, fırın açmayı planlıyor.",
        "Kullanıcı sabahları yürüyüş yapmayı seviyor.",
    ),
    "Russian": (
        "Мы перенесли занятия по гончарному делу на субботу, потому что мастерская закрыта.",
        "Пользователь перенёс занятия по гончарному делу на субботу.",
        "Гончарные занятия теперь проходят по субботам.",
        "Пользователь хочет купить новый велосипед.",
    ),
    "Greek": (
        "Η γιαγιά μου μαζεύει ρίγανη κάθε καλοκαίρι στο βουνό.",
        "Η γιαγιά του χρήστη μαζεύει ρίγανη κάθε καλοκαίρι στο βουνό.",
        "Κάθε καλοκαίρι η γιαγιά ανεβαίνει στο βουνό για ρίγανη.",
        "Ο χρήστης ψάχνει διαμέρισμα κοντά στη θάλασσα.",
    ),
    "Arabic": (
        "يعمل أخي في مكتبة صغيرة قرب الجامعة منذ ثلاث سنوات.",
        "يعمل أخو المستخدم في مكتبة صغيرة قرب الجامعة.",
        "لدى المستخدم أخ موظف في مكتبة بجوار الجامعة.",
        "يفضل المستخدم القهوة بدون سكر.",
    ),
    "Hebrew": (
        "אחותי מגדלת תבלינים על המרפסת ומוכרת אותם בשוק.",
        "אחותו של המשתמש מגדלת תבלינים על המרפסת ומוכרת אותם בשוק.",
        "התבלינים מהמרפסת של אחותו נמכרים בשוק.",
        "המשתמש מחפש מורה לפסנתר.",
    ),
    "Hindi": (
        "मेरी बहन हर रविवार को नदी के किनारे चित्र बनाती है।",
        "उपयोगकर्ता की बहन हर रविवार को नदी के किनारे चित्र बनाती है।",
        "रविवार को बहन नदी के पास चित्रकारी करती है।",
        "उपयोगकर्ता को नई साइकिल चाहिए।",
    ),
    "Chinese": (
        "我弟弟去年秋天开始在码头修船。",
        "用户的弟弟去年秋天开始在码头修船。",
        "从去年秋天起，弟弟的工作是在码头修理船只。",
        "用户想学做面包。",
    ),
    "Japanese": (
        "祖母は毎朝、庭のトマトに水をやってから新聞を読みます。",
        "ユーザーの祖母は毎朝、庭のトマトに水をやってから新聞を読む。",
        "祖母の朝は、トマトの水やりと新聞で始まる。",
        "ユーザーは静かなカフェを探している。",
    ),
    "Korean": (
        "우리 할머니는 매일 아침 마당의 토마토에 물을 주십니다.",
        "사용자의 할머니는 매일 아침 마당의 토마토에 물을 준다.",
        "아침마다 할머니가 토마토에 물을 준다고 한다.",
        "사용자는 조용한 카페를 찾고 있다.",
    ),
    "Thai": (
        "พี่สาวของฉันขายขนมที่ตลาดทุกวันเสาร์",
        "พี่สาวของผู้ใช้ขายขนมที่ตลาดทุกวันเสาร์",
        "ทุกวันเสาร์พี่สาวไปขายขนมในตลาด",
        "ผู้ใช้อยากเรียนว่ายน้ำ",
    ),
    "Vietnamese": (
        "Anh trai tôi sửa đồng hồ cũ trong một tiệm nhỏ gần chợ.",
        "Anh trai của người dùng sửa đồng hồ cũ trong một tiệm nhỏ gần chợ.",
        "Gần chợ có tiệm nhỏ nơi anh trai sửa đồng hồ.",
        "Người dùng muốn học bơi.",
    ),
}
ENGLISH = (
    ("I keep two alpacas behind the mill.", "The user keeps two alpacas behind the mill."),
    ("Ngozi Okwuosa and Þorbjörn Ólafsson met at Sølvgade in København.", "Ngozi met Þorbjörn at Sølvgade."),
    ("My sourdough is called Blobfish and lives in an Ikea jar.", "The user's sourdough is called Blobfish."),
    ("We renamed the repo to kvantifex and run it under systemd on pellworm.", "The repo is called kvantifex."),
    ("My friend 李明 taught me to make 小笼包 at home.", "The user's friend 李明 taught them to make 小笼包 at home."),
    ("The café does a mean crème brûlée, says Zoë.", "Zoë praises the crème brûlée of the café."),
    ("Our Wi-Fi password is qzlmpf-77-vvorr.", "The Wi-Fi password is qzlmpf-77-vvorr."),
)


def fact(said: str, text: str, **claim: object) -> Fact:
    return Fact("f", "fact", text, said, "c", Claim(**claim))  # type: ignore[arg-type]


def listed(*wordings: tuple[str, ...]) -> Fact:
    return claimed(GERMAN, parts=(*GERMAN.claim.parts, *(Part(some[0], wordings=some) for some in wordings)))


def outcomes(evidence: Fact, *entries: str) -> tuple[str, str, str]:
    """The outcomes of storage, summary and retrieval, where every entry is stored and shown."""
    judge, memories = OfflineJudge(), tuple(map(Memory, entries))
    listing = Listing("s", memories)
    stages = (
        judge.storage(evidence, listing),
        judge.summary(evidence, listing),
        judge.retrieval(evidence, QUESTION, memories),
    )
    assert all((stage.label == UNREAD) == (stage.outcome == "ungraded") for stage in stages)
    return tuple(stage.outcome for stage in stages)  # type: ignore[return-value]


HELD, UNGRADED, LOST = ("passed",) * 3, ("ungraded",) * 3, ("failed",) * 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_fact_that_stands_word_for_word_is_held_in_any_language(language: str) -> None:
    said, text, _, other = LANGUAGES[language]
    evidence = fact(said, text)
    assert outcomes(evidence, other, text) == HELD
    assert outcomes(evidence, other, said) == HELD  # a memory that keeps messages
    loud = text.upper() if text.upper().casefold() == text.casefold() else text
    spaced = unicodedata.normalize("NFD", f"[2026-01-05] {loud}".replace(" ", "  "))
    assert outcomes(evidence, other, spaced) == HELD
    assert outcomes(evidence, f"{other} {text} {other}") == HELD


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_judge_cannot_read_is_ungraded_not_failed(language: str) -> None:
    said, text, reworded, other = LANGUAGES[language]
    evidence = fact(said, text)
    assert outcomes(evidence, other, reworded) == UNGRADED
    assert outcomes(evidence, other) == UNGRADED
    assert outcomes(evidence, "The user has a brother or a sister.", "The user likes tea.") == UNGRADED
    assert outcomes(evidence) == LOST  # an empty store needs no reading
    english = fact("My aunt sells honey at the harbour.", "The user's aunt sells honey at the harbour.")
    assert outcomes(english, reworded, other) == UNGRADED


@pytest.mark.parametrize(("said", "text"), ENGLISH)
def test_names_and_rare_words_make_no_other_language(said: str, text: str) -> None:
    assert not is_foreign(fact(said, text).claim)
    assert "ungraded" not in outcomes(fact(said, text), "The user likes tea.", "The bus is late on Mondays.")
    english = fact("My aunt sells honey at the harbour.", "The user's aunt sells honey at the harbour.")
    assert "ungraded" not in outcomes(english, said, text)


GERMAN = fact(*LANGUAGES["German"][:2])
JAPANESE = fact(*LANGUAGES["Japanese"][:2])


@pytest.mark.parametrize(
    ("evidence", "entries", "outcome"),
    [
        # other words follow at once, which may turn the meaning
        (JAPANESE, [f"{JAPANESE.text[:-1]}わけではない。"], UNGRADED),
        (GERMAN, [f"{GERMAN.text[:-1]}-Allergie hat."], UNGRADED),
        (GERMAN, [f"- {GERMAN.text[:-1]}, sagt sie."], HELD),
        # a speaker's words, who may be another
        (GERMAN, [f"user: {GERMAN.text}"], HELD),
        (GERMAN, [f"Ottilie: {GERMAN.text}"], UNGRADED),
        (GERMAN, [f"[2026-01-05] assistant: {GERMAN.text}"], UNGRADED),
        # details as the language bends them, and one that is nowhere
        (listed(("Huhn",), ("Sommer", "Fisch")), [GERMAN.text], HELD),
        (listed(("Samstag",)), [GERMAN.text], UNGRADED),
        # a forbidden value that comes later, or before; memories shown without times have no order
        (claimed(GERMAN, replaced=("frisst Rind",)), [GERMAN.text, "Der Hund frisst Rind."], ("ungraded", "ungraded", "passed")),
        (claimed(GERMAN, replaced=("frisst Rind",)), ["Der Hund frisst Rind.", GERMAN.text], HELD),
        (claimed(GERMAN, owner="Waldi"), [GERMAN.text], UNGRADED),
        (claimed(GERMAN, owner="Waldi"), [f"Waldi: {GERMAN.text}"], HELD),
        (fact("Я живу в Риме.", "Живёт в Риме."), ["В Риме у него дом."], UNGRADED),
        (fact("我住在罗马。", "住在罗马。"), ["家在罗马。"], UNGRADED),
    ],
)  # fmt: skip
def test_word_for_word_is_a_statement_of_its_own(evidence: Fact, entries: list[str], outcome: object) -> None:
    assert outcomes(evidence, "Irgendetwas anderes steht hier auch noch.", *entries) == outcome


def test_an_english_fact_that_stands_word_for_word_is_held_whoever_it_names() -> None:
    evidence = fact("My cousin moved to Turin in May, she finally did it.", "Ottoline moved to Turin in May.")
    assert outcomes(evidence, "The user likes soup.", "Ottoline moved to Turin in May.") == HELD


def test_the_words_of_another_speaker_are_not_the_users() -> None:
    evidence = fact("I moved to Turin in May, at last.", "I moved to Turin in May.")
    assert outcomes(evidence, "Ottoline: I moved to Turin in May.")[1] == "failed"
    assert outcomes(evidence, "user: I moved to Turin in May.") == HELD


def test_few_entries_in_another_language_leave_english_facts_to_the_judge() -> None:
    evidence = fact("My aunt sells honey at the harbour.", "The user's aunt sells honey at the harbour.")
    english = [f"The user once saw a {animal} near the old mill." for animal in ("heron", "fox", "badger", "newt")]
    assert outcomes(evidence, *english, LANGUAGES["Polish"][1])[0] == "failed"
    assert outcomes(evidence, *english[:2], LANGUAGES["Polish"][1]) == UNGRADED
    assert outcomes(evidence, LANGUAGES["Polish"][1], evidence.source) == HELD
