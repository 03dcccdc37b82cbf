"""Turns in languages without word lists: what is compared all the same, and what is left open.

Literals are compared in every language; a rewrite that keeps every word and adds only words of the conversation is
`preserved`; where words went or came from nowhere, nobody can tell, and the rewrite is `uncertain`.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rewriteguard.check.foreign.literals import folded
from rewriteguard.guard.guard import Guard
from rewriteguard.language.detect import language_of
from rewriteguard.model.assessment import Assessment, Profile
from rewriteguard.model.rules import Verdict

Row = tuple[str, str, str, str, str]
"""Turn; history, user and assistant in turns, separated by `|`; rewrite; verdicts; the rule, where one is named."""

SWIM = "Wann macht das Schwimmbad in Jena auf?|Das Schwimmbad macht um 8 Uhr auf."
GERMAN: list[Row] = [
    # kept
    ("Wie lange ist das Rückgaberecht?", "", "wie lange ist das rückgaberecht", "preserved", ""),
    ("Wann macht es am Sonntag auf?", SWIM, "Wann macht das Schwimmbad am Sonntag auf?", "uncertain", ""),
    ("Wann am Sonntag?", SWIM, "Wann macht das Schwimmbad in Jena am Sonntag auf?", "preserved", ""),
    ("Reichen 1.200,50 € im Jahr?", "", "Reichen 1200,50 € im Jahr?", "preserved", ""),
    ("Frist für die Rückgabe?", "", "Rückgabefrist für die Rückgabe?", "preserved", ""),
    ("Wie ist die Oeffnungszeit?", "", "Wie ist die Öffnungszeit?", "preserved", ""),
    ("Was gilt ab dem 14.03.2025?", "", "Was gilt ab dem 14. März 2025?", "preserved", ""),
    # changed
    ("Welche Regeln galten 2023 für Mofas?", "", "Welche Regeln galten für Mofas?", "changed", "dropped.time"),
    ("Heizungen für unter 12.000 €?", "", "Heizungen für unter 21.000 €?", "changed", "altered.quantity"),
    ("Gilt das auch am Samstag?", SWIM, "Gilt das auch am Sonntag?", "changed", "altered.time"),
    ("Läuft der Treiber mit Version 3.10?", "", "Läuft der Treiber mit Version 3.1?", "changed", "altered.*"),
    ("Wo ist meine Bestellung DE-448120?", "", "Wo ist meine Bestellung?", "changed", "dropped.identifier"),
    ("Wie lange hält der Akku?", "Ein Rad.|Schön!", "Wie lange hält der Akku am Rad 2021?", "changed", "invented.time"),
    ("Wie lange kann ich Schuhe zurückgeben?", "", "How long can I return shoes?", "changed", "language"),
    # open
    ("Welche Fähren fahren im Winter nicht?", "", "Welche Fähren fahren im Winter?", "uncertain", ""),
]  # fmt: skip

YOGA = "¿Cuánto cuesta el bono de yoga en Lugo?|El bono de yoga cuesta 85 euros."
SPANISH: list[Row] = [
    ("¿Cuánto cuesta la entrada?", "", "cuanto cuesta la entrada", "preserved", ""),
    ("¿Y en Vigo?", YOGA, "¿Cuánto cuesta el bono de yoga en Vigo?", "uncertain", ""),
    ("¿Cuánto cuesta en Vigo?", YOGA, "¿Cuánto cuesta el bono de yoga en Vigo?", "preserved", ""),
    ("¿Dónde se compra?", YOGA, "¿Dónde se compra el bono de yoga?", "preserved", ""),
    ("¿Qué pasa desde el 3 de abril de 2024?", "", "¿Qué pasa desde el 03/04/2024?", "preserved", ""),
    ("¿Cuántas plazas hay para el viernes?", "", "cuántas plazas hay para el viernes", "preserved", ""),
    ("¿Qué ayudas había en 2022 para ellos?", "", "¿Qué ayudas había para ellos?", "changed", "dropped.time"),
    ("¿Qué ayudas había en 2022?", "", "¿Qué ayudas había en 2012?", "changed", "altered.time"),
    ("¿Pisos de menos de 1.500 euros?", "", "¿Pisos de menos de 2.500 euros?", "changed", "altered.quantity"),
    ("¿Tiene modo noche la Canon R7?", "", "¿Tiene modo noche la Canon?", "changed", "dropped.*"),
    ("¿Quién dirige el teatro de Zamora?", "", "¿Quién dirige el teatro de Soria?", "changed", "altered.entity"),
    ("¿Dónde está la oficina?", "El padrón.|Claro.", "¿Dónde está la oficina de Teruel?", "changed", "invented.entity"),
    ("¿Cómo cancelo la reserva AB1234?", "", "¿Cómo cancelo la reserva AB1243?", "changed", "altered.identifier"),
    ("¿Cuánto tarda el envío a las islas?", "", "How long does shipping take?", "changed", "language"),
    ("¿Qué vuelos no permiten mascotas?", "", "¿Qué vuelos permiten mascotas?", "uncertain", ""),
]  # fmt: skip

MUSEUM = "Quand ouvre le musée de Dinan ?|Le musée ouvre à 9h30."
FRENCH: list[Row] = [
    ("Combien coûte le billet ?", "", "combien coute le billet", "preserved", ""),
    ("Et combien coûte-t-il ?", MUSEUM, "Combien coûte le musée de Dinan ?", "uncertain", ""),
    ("Quand ouvre le dimanche ?", MUSEUM, "Quand ouvre le musée de Dinan le dimanche ?", "preserved", ""),
    ("Qui l'a construit ?", MUSEUM, "Qui a construit le musée de Dinan ?", "uncertain", ""),
    ("Quels trains après 14h30 ?", "", "Quels trains après 14:30 ?", "preserved", ""),
    ("Que vaut le contrat du 1er mars 2024 ?", "", "Que vaut le contrat du 1 mars 2024 ?", "preserved", ""),
    ("Quelles aides pour l'isolation en 2024 ?", "", "Quelles aides pour l'isolation ?", "changed", "dropped.time"),
    ("Un vélo à moins de 899,99 € ?", "", "Un vélo à moins de 999,99 € ?", "changed", "altered.quantity"),
    ("Est-ce ouvert le lundi ?", MUSEUM, "Est-ce ouvert le mardi ?", "changed", "altered.time"),
    ("Puis-je installer Debian 12.4 ici ?", "", "Puis-je installer Debian ici ?", "changed", "dropped.*"),
    ("Où se garer près de la gare de Rennes ?", "", "Où se garer près de la gare ?", "changed", "dropped.entity"),
    ("Qui a fondé le club ?", "J'aime en rire.|Bien.", "Qui a fondé le club en 1912 ?", "changed", "invented.time"),
    ("Que veut dire l'erreur E-2203 ?", "", "Que veut dire l'erreur E-2230 ?", "changed", "altered.identifier"),
    ("Combien de temps prend la livraison ?", "", "How long does delivery take?", "changed", "language"),
    ("Quels vols n'acceptent pas les chiens ?", "", "Quels vols acceptent les chiens ?", "uncertain", ""),
]  # fmt: skip

VACUUM = "雪川吸尘器能吸水吗？|可以，要先换上湿尘盒。"
CHINESE: list[Row] = [
    ("门票多少钱？", "", "门票多少钱", "preserved", ""),
    ("那它的噪音大吗？", VACUUM, "雪川吸尘器的噪音大吗？", "uncertain", ""),
    ("噪音大吗？", VACUUM, "雪川吸尘器噪音大吗？", "preserved", ""),
    ("２０２５年３月１４日开门吗？", "", "2025年3月14日开门吗？", "preserved", ""),
    ("2025年3月14日开门吗？", "", "2025-03-14开门吗？", "preserved", ""),
    ("三天的票多少钱？", "", "3天的票多少钱？", "preserved", ""),
    ("2023年的补贴政策是什么？", "", "补贴政策是什么？", "changed", "dropped.time"),
    ("2023年的补贴政策是什么？", "", "2022年的补贴政策是什么？", "changed", "altered.time"),
    ("星期六几点开门？", "", "星期天几点开门？", "changed", "altered.time"),
    ("预算500元以内的耳机", "", "预算800元以内的耳机", "changed", "altered.quantity"),
    ("Nginx 1.24怎么升级？", "", "怎么升级？", "changed", "dropped.*"),
    ("Kindle能看漫画吗？", "", "Kobo能看漫画吗？", "changed", "altered.entity"),
    ("订单SF20881到哪了？", "", "订单SF20818到哪了？", "changed", "altered.identifier"),
    ("学生票需要什么证件？", "", "What documents are needed for a student ticket?", "changed", "language"),
    ("哪些商品不能退货？", "", "哪些商品能退货？", "uncertain", ""),
]  # fmt: skip

BIKE = "折りたたみ自転車を借りられますか？|はい、一日1500円です。"
JAPANESE: list[Row] = [
    ("入場料はいくらですか？", "", "入場料はいくらですか", "preserved", ""),
    ("三日だといくら？", BIKE, "折りたたみ自転車を三日借りるといくらですか", "preserved uncertain", ""),
    ("三日でいくらですか？", "", "3日でいくらですか？", "preserved", ""),
    ("予約できますか？", BIKE, "折りたたみ自転車を予約できますか？", "preserved", ""),
    ("それは予約できますか？", BIKE, "折りたたみ自転車は予約できますか？", "uncertain", ""),
    ("１２，０００円以下の宿は？", "", "12000円以下の宿は？", "preserved", ""),
    ("2024年の開催日はいつですか？", "", "開催日はいつですか？", "changed", "dropped.time"),
    ("4月5日の天気は？", "", "4月6日の天気は？", "changed", "altered.time"),
    ("日曜日は何時からですか？", "", "土曜日は何時からですか？", "changed", "altered.time"),
    ("三日でいくらですか？", "", "五日でいくらですか？", "changed", "altered.*"),
    ("Python 3.12で動きますか？", "", "Python 3.2で動きますか？", "changed", "altered.*"),
    ("Switchのソフトは使えますか？", "", "ソフトは使えますか？", "changed", "dropped.entity"),
    ("注文JP-77120はどこですか？", "", "注文はどこですか？", "changed", "dropped.identifier"),
    ("返品の期限はいつまでですか？", "", "What is the deadline for returns?", "changed", "language"),
    ("予約できない日はいつですか？", "", "予約できる日はいつですか？", "uncertain", ""),
]  # fmt: skip

# What no list can judge is left open, not rejected.
OPEN: list[tuple[str, str, str]] = [
    ("Kostet es zwanzig Euro?", "", "Kostet es 20 Euro?"),
    ("Zimmer für 2 Personen?", "", "Zimmer für zwei Personen?"),
    ("Was kostet Nummer 2?", "Welche Tarife gibt es?|1. Basis 2. Plus", "Was kostet der Tarif Plus?"),
    ("trenes de León a Oviedo", "", "trenes de Oviedo a León"),
    ("¿Cuánto cuesta una entrada doble?", "", "¿Cuánto cuesta un bono doble?"),
    ("¿Necesito visado para EE. UU.?", "", "¿Necesito visado para Estados Unidos?"),
    ("URGENTE: quel est le taux de TVA ?", "", "quel est le taux de la taxe sur la valeur ajoutée ?"),
    ("第二个怎么用？", "推荐两个应用|1. 印象笔记 2. 有道云", "有道云怎么用？"),
    ("2番目はどこですか？", "美術館は？|1. 根津 2. 山種", "山種はどこですか？"),
    ("可以退吗？", "", "不可以退吗？"),
    ("รถไฟออกวันเสาร์กี่โมง", "", "รถไฟออกวันอาทิตย์กี่โมง"),
    ("во сколько закрывается музей", "", "во сколько открывается музей"),
]

MISSES: list[tuple[str, str, str, str, str]] = [
    (
        "Kann ich umtauschen?",
        "Was ist mit Socken?|Socken können Sie nicht umtauschen.",
        "Kann ich Socken nicht umtauschen?",
        "uncertain",
        "a negation that the conversation holds counts as a word of the conversation",
    ),
    (
        "Wann schließt der Zoo?",
        "Wir waren im Museum.|Schön!",
        "Wann schließt der Zoo im Museum?",
        "uncertain",
        "a phrase of an earlier topic is grounded",
    ),
    (
        "Am Montag, nein, am Dienstag?",
        SWIM,
        "Wann macht das Schwimmbad am Dienstag auf?",
        "preserved uncertain",
        "what the user takes back is not told from what stands",
    ),
    (
        "fährt der Zug nach Kassel",
        "",
        "fährt der Zug nach Gotha",
        "changed",
        "German writes every noun with a capital, so a name is a word",
    ),
    (
        "谷歌地图能离线用吗？",
        "",
        "百度地图能离线用吗？",
        "changed",
        "a name in Chinese characters is not told from other words",
    ),
]

TURNS = tomllib.loads((Path(__file__).parents[1] / "data" / "foreign_turns.toml").read_text("utf-8"))


def _check(guard: Guard, turn: str, past: str, rewrite: str) -> Assessment:
    roles = ("user", "assistant")
    return guard.check(turn, rewrite, [(roles[i % 2], text) for i, text in enumerate(past.split("|")) if text])


@pytest.mark.parametrize("row", [*GERMAN, *SPANISH, *FRENCH, *CHINESE, *JAPANESE], ids=lambda row: f"{row[0]} {row[2]}")
def test_verdict(guard: Guard, row: Row) -> None:
    turn, past, rewrite, verdicts, rule = row
    found = _check(guard, turn, past, rewrite)
    assert found.verdict.value in verdicts.split(), found.explain()
    assert "language" in found.checked.gaps
    rules = [violation.rule for violation in found.violations]
    if found.verdict is Verdict.UNCERTAIN:
        assert rules == ["not_checked.language"]
    assert not rule or any(name == rule or (rule.endswith("*") and name.startswith(rule[:-1])) for name in rules), rules


@pytest.mark.parametrize("row", OPEN, ids=lambda row: row[0])
def test_what_cannot_be_judged_is_uncertain(guard: Guard, row: tuple[str, str, str]) -> None:
    found = _check(guard, *row)
    assert found.verdict.value == "uncertain", found.explain()
    assert [violation.rule for violation in found.violations] == ["not_checked.language"]
    assert all(item.text for item in found.violations[0].evidence)


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=pytest.mark.xfail(strict=True, reason=row[4]), id=row[0]) for row in MISSES]
)
def test_known_misses(guard: Guard, row: tuple[str, str, str, str, str]) -> None:
    assert _check(guard, *row[:3]).verdict.value in row[3].split()


@pytest.mark.parametrize(
    ("turn", "rewrite"),
    [
        ("Welche Bahn fährt um 18 Uhr?", "Welche Bahn fährt um 18:00 Uhr?"),
        ("Ist das Amt am 24.12. offen?", "Ist das Amt am 24. Dezember offen?"),
        ("Reichen 500mg am Tag?", "Reichen 500 mg am Tag?"),
        ("¿Abren el 5/11 por la mañana?", "¿Abren el 5 de noviembre por la mañana?"),
        ("Je cherche un vélo à 1 200 €", "Je cherche un vélo à 1200 €"),
        ("¿Tiene WiFi el Hotel Miño?", "¿Tiene Wi-Fi el hotel Miño?"),
        ("3万円以下の宿はありますか", "三万円以下の宿はありますか"),
    ],
)
def test_one_literal_in_two_forms_is_kept(guard: Guard, turn: str, rewrite: str) -> None:
    found = guard.check(turn, rewrite)
    assert not found.comparison.dropped
    assert not found.comparison.altered
    assert found.verdict is not Verdict.CHANGED, found.explain()


@pytest.mark.parametrize("language", ["de", "es", "fr", "zh", "ja"])
@pytest.mark.parametrize("literal", ["14.03.2025", "2023", "350", "3.11.4", "AB-4471", "GmbH"])
def test_a_literal_lost_altered_or_invented_is_changed(guard: Guard, language: str, literal: str) -> None:
    other = {"14.03.2025": "15.03.2025", "2023": "2022", "350": "530", "3.11.4": "3.12.4", "AB-4471": "AB-4417"}
    for turn in TURNS[language].strip().split("\n")[::8]:
        without = turn.rstrip("?？ .。")
        with_it = f"{without} {literal}?"
        altered = f"{without} {other.get(literal, 'KGaA')}?"
        for ours, theirs in ((with_it, without), (with_it, altered), (without, with_it)):
            found = guard.check(ours, theirs)
            assert found.verdict is Verdict.CHANGED, (ours, theirs)


def test_two_spellings_of_an_umlaut_are_one() -> None:
    assert folded("OEFFNUNG über Aachen") == folded("Öffnung ueber Aachen") == "offnung uber aachen"
    assert folded("が") == "が"


def test_offsets_are_those_of_the_text_as_written(guard: Guard) -> None:
    turn = "…㈱の宿は１２，０００円以下、２０２５年３月１４日？"
    found = guard.check(turn, "㈱の宿は？")
    assert [turn[t.start : t.end] for t in found.comparison.dropped] == ["１２，０００", "２０２５年３月１４日"]
    places = [item for violation in found.violations for item in violation.evidence if item.where == "turn"]
    assert places
    assert all(turn[item.start : item.end] == item.text for item in places)


def test_a_filter_and_an_alias_keep_what_left_the_text() -> None:
    guard = Guard(aliases={"Brühl AG": ["BAG"]})
    turn, rewrite = "Welche Regeln galten 2023 für Mofas?", "Welche Regeln galten für Mofas?"
    assert guard.check(turn, rewrite, filter={"year": 2023}).verdict is Verdict.PRESERVED
    assert guard.check(turn, rewrite, filter={"year": 2022}).verdict is Verdict.CHANGED
    renamed = guard.check("Wer leitet die BAG jetzt?", "Wer leitet die Brühl AG jetzt?")
    assert renamed.verdict is not Verdict.CHANGED, renamed.explain()


def test_one_that_only_shortens_may_carry_no_literal(guard: Guard) -> None:
    past = [("user", "Wie war das Jahr 2023 für Sie?"), ("assistant", "Gut.")]
    turn, rewrite = "Wie war das Jahr für Sie?", "Wie war das Jahr 2023 für Sie?"
    assert guard.check(turn, rewrite, past).verdict is Verdict.PRESERVED
    assert guard.check(turn, rewrite, past, profile=Profile.SHORTEN).verdict is Verdict.CHANGED


def test_names_of_the_turn_are_in_no_language(guard: Guard) -> None:
    turn = "Was kostet bei Ihnen die Apple Watch Series 9?"
    found = guard.check(turn, "Apple Watch Series 9")
    assert language_of("Apple Watch Series 9") == "en"
    assert [violation.rule for violation in found.violations] == ["not_checked.language"]


def test_dependence(guard: Guard) -> None:
    past = [("user", "Wie lange hat das Bad in Jena auf?"), ("assistant", "Bis 20 Uhr.")]
    long = "Welche Unterlagen brauche ich in Jena für die Anmeldung eines neuen Gewerbes beim Amt?"
    assert guard.dependent("Und am Wochenende?", past)
    assert not guard.dependent("Und am Wochenende?")
    assert not guard.dependent(long, past)
    assert guard.check(long, "Welche Unterlagen brauche ich für die Anmeldung in Jena?", past).dependent
    assert not guard.check(long, long, past).dependent


def test_a_short_turn_is_in_the_language_of_the_message_before(guard: Guard) -> None:
    past = [("user", "Which wines do you sell?"), ("assistant", "Red ones.")]
    assert "language" not in guard.check("Pinot noir?", "Do you sell Pinot noir?", past).checked.gaps
    assert "language" in guard.check("有黑皮诺吗？", "有黑皮诺吗？", past).checked.gaps


@pytest.mark.parametrize("language", TURNS)
def test_languages_are_recognised(language: str) -> None:
    turns = TURNS[language].strip().split("\n")
    assert len(turns) == 40
    assert sum(language_of(turn) not in {"", "en"} for turn in turns) >= 37


@pytest.mark.parametrize("language", TURNS)
def test_a_rewrite_that_is_the_turn_is_preserved(guard: Guard, language: str) -> None:
    turns = TURNS[language].strip().split("\n")
    verdicts = {turn: guard.check(turn, turn).verdict.value for turn in turns if language_of(turn) not in {"", "en"}}
    assert {turn for turn, verdict in verdicts.items() if verdict != "preserved"} == set()


def test_importing_the_package_does_not_load_the_model() -> None:
    script = "import rewriteguard, sys; sys.exit('py3langid' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
