"""What a model's filter may say: good filters pass, bad ones are named, and the application's filter survives both."""

from datetime import date, datetime

import pytest

from rewriteguard import Guard, InputError, Verdict, merge_filter
from rewriteguard.filters.tree import leaves, read_tree
from rewriteguard.model.rules import Rule

TODAY = date(2025, 5, 1)
OWN = {"tenant": "north"}


class Compared:
    """Has the shape of LangChain's comparison, and nothing else."""

    def __init__(self, comparator, attribute, value):
        self.comparator, self.attribute, self.value = comparator, attribute, value


class Operated:
    """Has the shape of LangChain's operation."""

    def __init__(self, operator, *arguments):
        self.operator, self.arguments = operator, list(arguments)


class Query:
    """Has the shape of LangChain's structured query."""

    def __init__(self, filter, limit=None):  # noqa: A002
        self.query, self.filter, self.limit = "text", filter, limit


def day(value):
    return {"date": value, "type": "date"}


FERRIES = [
    ("user", "Which ferries of the Petrel line sailed after 2018?"),
    ("assistant", "Those to Gull Island; ticket code QX-771. Captain Ida Moreno steers them."),
]

SUPPORTED = [
    # Times: a bound is the days that it keeps, however it is written.
    ("surveys since 2020", {"year": {"$gte": 2020}}),
    ("surveys since 2020", {"year": {"$gt": 2019}}),
    ("surveys since 2020", Compared("gte", "made", day("2020-01-01"))),
    ("surveys since 2020", Compared("gt", "made", day("2019-12-31"))),
    ("surveys since 2020", {"made": {"$gte": date(2020, 1, 1)}}),
    ("surveys since 2020", {"made": {"$gte": datetime(2020, 1, 1, 8)}}),
    ("surveys since 2020", {"made": {"$gte": "2020-01-01T00:00:00Z"}}),
    ("surveys since 2020", Operated("not", Compared("lt", "year", 2020))),
    ("surveys after 2020", {"year": {"$gt": 2020}}),
    ("surveys after 2020", Compared("gte", "made", day("2021-01-01"))),
    ("surveys after 2020", Compared("gt", "made", day("2020-12-31"))),
    ("surveys before 2020", Compared("lt", "made", day("2020-01-01"))),
    ("surveys before 2020", Compared("lte", "made", day("2019-12-31"))),
    ("surveys made in 2020", {"year": 2020}),
    ("surveys made in 2020", {"year": "2020"}),
    ("surveys made in 2020", {"made": {"$gte": "2020-01-01", "$lt": "2021-01-01"}}),
    ("surveys of the 1990s", Operated("and", Compared("gte", "year", 1990), Compared("lte", "year", 1999))),
    ("surveys of the early 1960s", {"year": {"$gte": 1960, "$lte": 1963}}),
    ("permits issued between 2019 and 2021", {"year": {"$gte": 2019, "$lte": 2021}}),
    ("permits issued between 2019 and 2021", {"year": {"$in": [2019, 2020, 2021]}}),
    ("permits issued last year", {"year": 2024}),
    ("permits issued since last month", {"issued": {"$gte": "2025-04-01"}}),
    ("permits of the last two years", {"year": {"$gte": 2023}}),
    ("permits issued since March 2020", {"year": {"$gte": 2020}}),
    ("permits issued in March 2021", {"year": 2021, "month": 3}),
    ("permits of Q3 2023", {"year": 2023, "quarter": 3}),
    ("engines not older than 2015", {"year": {"$gte": 2015}}),
    ("engines more recent than 2015", {"year": {"$gt": 2015}}),
    ("surveys of every year except 2020", {"year": {"$ne": 2020}}),
    ("permits granted since 2019 that expire before 2026", {"granted": {"$gte": 2019}, "expires": {"$lt": 2026}}),
    ("permits issued from March 2019 to May 2021", {"year": {"$gte": 2019, "$lte": 2021}}),
    ("permits issued from March 2019 to May 2021", {"year": {"$in": [2019, 2020, 2021]}}),
    ("permits issued in March 2021", {"year": {"$gte": 2021, "$lt": 2022}}),
    ("permits issued before March 2021", {"year": {"$lte": 2021}}),
    ("permits issued after 5 March 2021", {"year": {"$gte": 2021}}),
    ("permits issued on 5 March 2021", {"month": 3, "year": 2021}),
    ("permits issued on 5 March 2021", {"month": "2021-03"}),
    ("permits from June 2021", {"month": 6, "year": 2021}),
    ("permits from June 2021", {"month": 6}),
    # Amounts.
    ("cabins under $300", {"price": {"$lt": 300}}),
    ("cabins under 1,200 euros", {"price": {"$lt": 1200}}),
    ("cabins for at most twelve hundred euros", {"price": {"$lte": "1200 EUR"}}),
    ("cabins for over 5 guests", {"guests": {"$gt": 5}}),
    ("cabins with two or more beds", {"beds": {"$gte": 2}}),
    ("a cabin with three beds", {"beds": 3}),
    ("cabins rated above 8.5", {"rating": {"$gt": 8.5}}),
    ("walks under 5 km", {"distance_km": {"$lt": 5}}),
    ("walks under 5 km", {"distance_m": {"$lt": 5000}}),
    ("crates heavier than 12 kg", {"weight_kg": {"$gt": 12}}),
    ("walks shorter than 2 hours", {"walk_minutes": {"$lt": 120}}),
    ("walks shorter than 2 hours", {"walkHours": {"$lt": 2}}),
    ("walks shorter than 2 hours", {"duration": {"$lt": 120}}),
    ("walks between 1 and 2 hours", {"duration_min": {"$gte": 60, "$lte": 120}}),
    ("permits younger than two weeks", {"age_days": {"$lt": 14}}),
    ("scans under 1 GB", {"size_mb": {"$lt": 1000}}),
    ("scans under 1 GB", {"size_mb": {"$lt": 1024}}),
    ("scans under 1 GB", {"size": {"$lt": 1073741824}}),
    ("servers with at least 16 GB", {"ram_mb": {"$gte": 16000}}),
    ("servers with at least 16 GB", {"ram_mb": {"$gte": 16384}}),
    ("servers with 512 to 1024 MB", {"ram_mb": {"$gte": 512, "$lte": 1024}}),
    ("milk with less than 2% fat", {"fat": {"$lt": 0.02}}),
    ("cabins between 100 and 200 euros", {"price": {"$gte": 100, "$lte": 200}}),
    ("cabins with 3 beds and 2 baths", {"beds": 3, "baths": 2}),
    # Words, lists, patterns, truth values, negations.
    ("cabins in Lund or Malmö", {"town": {"$in": ["Lund", "Malmö"]}}),
    ("cabins in Lund or Malmö with a sauna", {"$or": [{"town": "Lund"}, {"town": "Malmö"}], "has_sauna": True}),
    ("permits of 2019 or 2021", {"year": {"$in": [2019, 2021]}}),
    ("folk song or ballad recordings", {"form": {"$in": ["folk song", "ballad"]}}),
    ("open tickets about logins or payments", {"status": "open"}),
    ("Danish and Swedish cabins", Operated("or", Compared("eq", "land", "danish"), Compared("eq", "land", "swedish"))),
    ("tickets that are open or of high priority", {"$or": [{"status": "open"}, {"priority": "high"}]}),
    ("tickets, open, closed or of high priority",
     {"$or": [{"status": {"$in": ["open", "closed"]}}, {"priority": "high"}]}),
    ("open or closed tickets with high priority", {"status": {"$in": ["open", "closed"]}, "priority": "high"}),
    ("open tickets about logins or payments with high priority", {"status": "open", "priority": "high"}),
    ("cabins with 3 or more beds and a sauna", {"beds": {"$gte": 3}, "has_sauna": True}),
    ("Danish wines from 2019 or 2021", {"land": "Danish", "year": {"$in": [2019, 2021]}}),
    ("cabins without a sauna or a pool", {"has_sauna": False, "has_pool": False}),
    ("approved plans for the harbour", {"status": "approved", "title": {"$like": "%harbour%"}}),
    ("unapproved plans", {"approved": False}),
    ("unapproved plans", {"status": "unapproved"}),
    ("plans that are not approved", {"status": {"$ne": "approved"}}),
    ("cabins with a sauna in Lund", {"has_sauna": True, "town": "Lund"}),
    ("cabins without a sauna", {"has_sauna": False}),
    ("cabins without a sauna", Operated("not", Compared("contain", "amenities", "sauna"))),
    ("non-smoking cabins", {"smoking": "no"}),
    ("gluten-free bread", {"gluten_free": True}),
    ("bread without nuts or seeds", {"contains": {"$nin": ["nuts", "seeds"]}}),
    ("essays by neither Holm nor Berg", {"author": {"$nin": ["Holm", "Berg"]}}),
    ("letters not written in French", {"language": {"$ne": "French"}}),
    ("Why can I not open PDF files on Linux?", {"type": "pdf", "system": "Linux"}),
    ("German wines", {"country": "Germany"}),
    ("rules of the World Health Organization", {"body": "WHO"}),
    ("manual for part AB-1234", {"part": "AB-1234"}),
    ("guide for Python 3.11", {"version": "3.11"}),
    ("cabins in Lund, no sorry, Malmö", {"town": "Malmö"}),
    ("paintings by Åsa Holm", None),
]  # fmt: skip

UNSUPPORTED = [
    # A comparator on the wrong side, or one that keeps more or less than was said.
    ("surveys since 2020", {"year": {"$lt": 2020}}, "altered.comparator"),
    ("surveys since 2020", {"year": {"$lte": 2019}}, "altered.comparator"),
    ("surveys since 2020", {"year": {"$gt": 2020}}, "altered.comparator"),
    ("surveys since 2020", {"year": 2020}, "altered.comparator"),
    ("surveys since 2020", Operated("not", Compared("gte", "year", 2020)), "altered.comparator"),
    ("surveys after 2020", {"year": {"$gte": 2020}}, "altered.comparator"),
    ("surveys after 2020", Compared("gt", "made", day("2020-01-01")), "altered.value"),
    ("surveys before 2020", {"year": {"$lte": 2020}}, "altered.comparator"),
    ("surveys made in 2020", {"year": {"$gte": 2020}}, "altered.comparator"),
    ("permits issued after March 2020", {"year": {"$gt": 2020}}, "altered.value"),
    ("permits issued from 2018 to 2020", {"year": {"$gte": 2018, "$lte": 2022}}, "altered.comparator"),
    ("permits issued from 2018 to 2020", {"year": {"$in": [2018, 2019, 2020, 2021]}}, "altered.comparator"),
    ("permits issued from 2018 to 2020", {"made": {"$gte": "2018-01-01", "$lt": "2022-01-01"}}, "altered.comparator"),
    ("permits issued in 2020", {"year": {"$in": [2019, 2020, 2021]}}, "altered.comparator"),
    ("permits issued in 2020", {"year": {"$gte": 1990, "$lte": 2024}}, "altered.value"),
    ("permits issued last year", {"year": {"$gte": 2010, "$lte": 2024}}, "altered.comparator"),
    ("permits of June 2021", {"issued": {"$gte": "1900-01-01", "$lt": "2100-01-01"}}, "altered.value"),
    ("permits of June 2021", {"issued": {"$gte": "2021-01-01", "$lte": "2021-12-31"}}, "altered.value"),
    ("permits of June 2021", {"year": {"$gte": 2021}}, "altered.value"),
    ("permits of June to August 2021", {"year": {"$gte": 2015, "$lte": 2021}}, "altered.value"),
    ("permits issued since June 2021", {"year": 2021}, "altered.value"),
    ("permits issued after June 2021", {"year": 2021}, "altered.value"),
    ("permits issued until June 2021", {"year": 2021}, "altered.value"),
    ("permits issued since June 2021", {"month": 6}, "altered.value"),
    ("permits issued since June", {"month": 6}, "altered.comparator"),
    ("engines not older than 2015", {"year": {"$lt": 2015}}, "altered.comparator"),
    ("permits issued between 2019 and 2021", {"year": {"$gt": 2019, "$lt": 2021}}, "altered.value"),
    ("cabins under $300", {"price": {"$gt": 300}}, "altered.comparator"),
    ("cabins under $300", {"price": {"$lte": 300}}, "altered.comparator"),
    ("cabins for over 5 guests", {"guests": {"$lt": 5}}, "altered.comparator"),
    ("cabins for over 5 guests", {"guests": {"$gte": 5}}, "altered.comparator"),
    ("crates heavier than 12 kg", {"weight_kg": {"$lt": 12}}, "altered.comparator"),
    ("walks shorter than 2 hours", {"walk_minutes": {"$lt": 2}}, "altered.value"),
    ("walks shorter than 2 hours", {"walk_minutes": {"$lt": 7200}}, "altered.value"),
    ("walks shorter than 2 hours", {"walk_minutes": {"$gt": 120}}, "altered.comparator"),
    ("walks under 5 km", {"distance_m": {"$lt": 5}}, "altered.value"),
    ("servers with at least 16 GB", {"ram_gb": {"$gte": 16384}}, "altered.value"),
    ("cabins under 50 dollars", {"price_cents": {"$lt": 5000}}, "altered.value"),
    # A value in another's place, or from nowhere.
    ("surveys since 2020", {"year": {"$gte": 2021}}, "altered.value"),
    ("permits issued last year", {"year": 2023}, "altered.comparator"),
    ("cabins under $300", {"price": {"$lt": 200}}, "altered.value"),
    ("cheap cabins", {"price": {"$lt": 200}}, "invented.value"),
    ("good surveys", {"year": {"$gte": 2020}}, "invented.value"),
    ("approved plans", {"status": "draft"}, "invented.value"),
    ("internal memos", {"audience": "international"}, "invented.value"),
    ("wines from Austria", {"country": "Australia"}, "invented.value"),
    ("manual for part AB-1234", {"part": "AB-1235"}, "invented.value"),
    ("guide for Python 3.1", {"version": "3.10"}, "invented.value"),
    ("cabins in Lund, no sorry, Malmö", {"town": "Lund"}, "invented.value"),
    ("cabins in Lund", {"town": {"$in": ["Lund", "Ystad"]}}, "invented.value"),
    ("cabins", {"has_sauna": True}, "invented.value"),
    # A negation lost or added.
    ("cabins without a sauna", {"has_sauna": True}, "altered.negation"),
    ("cabins without a sauna", Compared("contain", "amenities", "sauna"), "altered.negation"),
    ("cabins with a sauna", {"has_sauna": False}, "altered.negation"),
    ("cabins with a sauna", Operated("not", Compared("contain", "amenities", "sauna")), "altered.negation"),
    ("songs except ballads", {"form": "ballad"}, "altered.negation"),
    ("songs by Holm", {"author": {"$ne": "Holm"}}, "altered.negation"),
    ("essays by neither Holm nor Berg", {"author": {"$in": ["Holm"]}}, "altered.negation"),
    ("unapproved plans", {"status": "approved"}, "altered.negation"),
    ("surveys made in 2020", {"year": {"$ne": 2020}}, "altered.negation"),
    # A value of another field, parts joined in another way.
    ("cabins with 3 beds and 2 baths", {"beds": 2}, "altered.pair"),
    ("films directed by Åsa Holm with Bo Berg", {"director": "Bo Berg"}, "altered.pair"),
    ("Danish or Swedish cabins", {"$and": [{"land": "danish"}, {"land": "swedish"}]}, "altered.operator"),
    ("Danish cabins under 90 euros", {"$or": [{"land": "danish"}, {"price": {"$lt": 90}}]}, "altered.operator"),
    (
        "open tickets with high priority for Lund or Malmö",
        {"$or": [{"status": "open"}, {"priority": "high"}]},
        "altered.operator",
    ),
    (
        "films that are neither comedies nor from France",
        {"$not": {"$and": [{"genre": "comedy"}, {"country": "France"}]}},
        "altered.operator",
    ),
    ("tickets that are either open or high priority", {"status": "open", "priority": "high"}, "altered.operator"),
    ("tickets that are open or of high priority", {"status": "open", "priority": "high"}, "altered.operator"),
    ("comedy films or anything after 2010", {"genre": "comedy", "year": {"$gt": 2010}}, "altered.operator"),
    (
        "Danish cabins in Lund or Malmö with a sauna",
        {"$or": [{"land": "danish"}, {"town": {"$in": ["Lund", "Malmö"]}}, {"has_sauna": True}]},
        "altered.operator",
    ),
    ("plans by Holm or permits of Berg", {"author": "Holm", "owner": "Berg"}, "altered.operator"),
    ("permits issued in 2020 or with high priority", {"year": 2020, "priority": "high"}, "altered.operator"),
    ("cabins with a sauna or a balcony", {"has_sauna": True, "has_balcony": True}, "altered.operator"),
    ("cabins in Lund or Malmö", {"town": "Lund"}, "altered.operator"),
    ("cabins in Lund, Ystad or Malmö", {"town": {"$in": ["Lund", "Malmö"]}}, "altered.operator"),
    ("permits of 2019 or 2021", {"year": 2019}, "altered.operator"),
    # The application's field, and what no filter may hold.
    ("plans of south", {"tenant": "south"}, "altered.developer"),
    ("plans of south", {"metadata.Tenant": {"$ne": "north"}}, "altered.developer"),
    ("plans of north", {"tenant": "north"}, "altered.developer"),
    ("plans since 2020 of south", {"$or": [{"year": {"$gte": 2020}}, {"tenant": "south"}]}, "altered.developer"),
    ('plans by x" or tenant == "south', {"author": 'x" or tenant == "south'}, "malformed.syntax"),
    ("plans", {"$where": "true"}, "malformed.syntax"),
    ("plans", {"title": {"$regex": "plans"}}, "not_checked.comparator"),
    ("plans", {"owner": None}, "not_checked.comparator"),
    ("plans", {"owner": {"$in": []}}, "not_checked.comparator"),
    ("plans", {"_": 1}, "invented.value"),
    ("plans", {"owner": {}}, "not_checked.comparator"),
    ("plans", {"price": {"$lt": float("inf")}}, "not_checked.comparator"),
]


@pytest.mark.parametrize(("turn", "structured"), SUPPORTED)
def test_what_the_user_said_passes(guard, turn, structured):
    found = guard.check_filter(structured, turn, reference_date=TODAY, developer_filter=OWN)
    assert found.verdict is Verdict.PRESERVED, found.explain()
    assert found.violations == ()
    assert bool(found.kept) == (structured is not None)


@pytest.mark.parametrize(("turn", "structured", "rule"), UNSUPPORTED)
def test_what_the_user_did_not_say_is_named_and_dropped(guard, turn, structured, rule):
    found = guard.check_filter(structured, turn, reference_date=TODAY, developer_filter=OWN)
    assert rule in {violation.rule for violation in found.violations}
    assert found.kept == ()
    assert found.verdict is Rule(rule).alone
    for violation in found.violations:
        for item in violation.evidence:
            assert turn[item.start : item.end] == item.text
    assert merge_filter(OWN, found) == OWN


FOLLOW_UPS = [
    ("And those to Gull Island before 2022?", {"year": {"$lt": 2022}, "line": "Petrel"}, None),
    ("And which of them call at Northbank?", {"year": {"$gt": 2018}, "harbour": "Northbank"}, None),
    ("And those of the Petrel line to Gull Island?", {"year": {"$lt": 2018}}, "altered.comparator"),
    ("And those before 2010?", {"year": {"$gt": 2018}}, "altered.value"),
    ("And those to Gull Island?", {"code": "QX-771"}, "low_trust"),
    ("And those to Gull Island?", {"captain": "Ida Moreno"}, "low_trust"),
    ("And those to Gull Island?", {"region": "south"}, "invented.value"),
    ("And those without stops?", {"line": {"$ne": "Petrel"}}, "altered.negation"),
    ("And those that are not of the Petrel line?", {"line": "Petrel"}, "altered.negation"),
]


@pytest.mark.parametrize(("turn", "structured", "rule"), FOLLOW_UPS)
def test_the_users_earlier_words_count_and_the_assistants_do_not(guard, turn, structured, rule):
    found = guard.check_filter(structured, turn, FERRIES)
    assert [violation.rule for violation in found.violations] == ([] if rule is None else [rule])
    if rule == "low_trust":
        assert found.verdict is Verdict.UNCERTAIN
        assert found.kept == ()
        assert found.violations[0].evidence[0].turn == 1


CABINS = [("user", "Cabins in Lund under 900 euros by Holm"), ("assistant", "There are 3.")]

REPLACED = [
    ("And in Ystad?", {"town": "Lund"}, "altered.value"),
    ("And in Ystad?", {"town": {"$in": ["Lund", "Ystad"]}}, "altered.value"),
    ("And in Ystad?", {"town": "Lund", "price": {"$lt": 900}}, "altered.value"),
    ("What about Ystad?", {"town": "Lund"}, "not_checked.replaced"),
    ("And by Berg?", {"maker": "Holm"}, "altered.value"),
    ("And by Berg?", {"maker": "Berg", "town": "Lund"}, None),
    ("And by Berg?", {"town": "Lund"}, None),
    ("And in Ystad?", {"town": "Ystad", "maker": "Holm", "price": {"$lt": 900}}, None),
    ("And in Ystad as well?", {"town": {"$in": ["Lund", "Ystad"]}}, None),
    ("And with a garden?", {"town": "Lund"}, None),
    ("And near Ystad station?", {"town": "Lund"}, None),
    ("And which of them are in Lund?", {"town": "Lund"}, None),
    ("And not in Ystad?", {"town": "Lund"}, None),
]


@pytest.mark.parametrize(("turn", "structured", "rule"), REPLACED)
def test_a_name_that_the_turn_replaces_does_not_stay(guard, turn, structured, rule):
    found = guard.check_filter(structured, turn, CABINS)
    assert [violation.rule for violation in found.violations] == ([] if rule is None else [rule])
    if rule is not None:
        assert found.violations[0].value != "Ystad"
        assert found.verdict is Rule(rule).alone


def test_a_relative_period_needs_a_reference_date(guard):
    found = guard.check_filter({"year": 2024}, "permits issued last year")
    assert found.verdict is Verdict.UNCERTAIN
    assert [violation.rule for violation in found.violations] == ["not_checked.reference_date"]
    assert found.kept == ()


def test_the_supported_parts_of_a_filter_stay_as_they_are(guard):
    since, wrong = Compared("gte", "year", 2020), Compared("eq", "author", "Holm")
    either = Operated("or", Compared("eq", "town", "Lund"), Compared("eq", "town", "Ystad"))
    whole = Query(Operated("and", since, Operated("and", wrong, either)))
    found = guard.check_filter(whole, "surveys of Lund since 2020")
    assert [(v.attribute, v.value) for v in found.violations] == [("author", "Holm"), ("town", "Ystad")]
    assert found.kept == (since,)
    assert found.kept[0] is since


LIMITS = [
    (5, 20, "the top five surveys", 5),
    (5, 3, "show me 5 surveys", 3),
    (30, 20, "show me up to 30 surveys", 20),
    (30, None, "show me up to 30 surveys", 30),
    (4, 20, "show me 5 surveys", None),
    (1, 20, "surveys", None),
    (0, 20, "show me 0 surveys", None),
    (True, 20, "surveys", None),
    (None, 20, "show me 5 surveys", None),
    (2, 20, "give me a couple of surveys", 2),
    (1, 20, "give me one survey", 1),
    (3, 20, "please list the 3 most recent permits", 3),
    (3, 20, "what are the three largest ferries?", 3),
    (10, 20, "the first 10 permits of Acme", 10),
    (4, 20, "cabins in Lund, 4 results please", 4),
    (3, 20, "top 3 cabins with 5 beds", 3),
    (5, 20, "top 3 cabins with 5 beds", None),
    (2, 20, "two permits for the harbour", 2),
    (5, 20, "5 star hotels", None),
    (5, 20, "show me 5 star hotels", None),
    (3, 20, "cabins with 3 beds in Lund", None),
    (3, 20, "do these cabins have 3 beds?", None),
    (3, 20, "Python 3 manuals", None),
    (3, 20, "show me Python 3 manuals", None),
    (2020, None, "surveys of 2020", None),
    (2020, None, "show me 2020 surveys", None),
    (12, 20, "show me 12 month permits", None),
    (500, None, "show me permits over 500 euros", None),
    (5, 20, "show me more than 5 surveys", None),
]


def test_a_number_that_a_filter_took_up_is_no_limit(guard):
    comparison = Compared("eq", "beds", 3)
    found = guard.check_filter(Query(comparison, 3), "show me 3 beds")
    assert (found.kept, found.limit) == ((comparison,), None)


def test_an_earlier_turn_may_have_said_how_many(guard):
    history = [("user", "Show me the top 5 cabins with 3 beds"), ("assistant", "Here are 7.")]
    assert [guard.check_filter(Query(None, n), "And in Lund?", history).limit for n in (5, 3, 7)] == [5, None, None]


@pytest.mark.parametrize(("limit", "cap", "turn", "expected"), LIMITS)
def test_a_limit_is_the_users_and_capped(guard, limit, cap, turn, expected):
    found = guard.check_filter(Query(None, limit), turn, max_limit=cap)
    assert found.limit == expected
    assert [v.attribute for v in found.violations] == (["limit"] if expected is None and limit is not None else [])


def test_the_applications_filter_survives_every_merge(guard):
    own = {"tenant": "north", "level": {"$lt": 3}}
    found = guard.check_filter({"year": {"$gte": 2020}}, "surveys since 2020", developer_filter=own)
    assert merge_filter(own, found) == {"$and": [own, {"year": {"$gte": 2020}}]}
    assert merge_filter(None, found) == {"year": {"$gte": 2020}}
    assert merge_filter({}, guard.check_filter(None, "surveys")) is None
    assert own == {"tenant": "north", "level": {"$lt": 3}}


@pytest.mark.parametrize("written", [{"year": {"$gte": 2020}}, {"YEAR": {"$gte": 2020}}, {"meta.year": {"$gte": 2020}}])
def test_a_merge_leaves_out_the_applications_fields_even_where_the_check_was_not_told(guard, written):
    found = guard.check_filter(written, "surveys since 2020")
    assert found.kept == (written,)
    assert merge_filter({"year": {"$gte": 2024}}, found) == {"year": {"$gte": 2024}}


def test_only_mappings_are_merged_here(guard):
    found = guard.check_filter(Compared("gte", "year", 2020), "surveys since 2020")
    with pytest.raises(InputError, match="assessment: expected mappings, got Compared"):
        merge_filter(OWN, found)
    with pytest.raises(InputError, match="developer_filter: expected a mapping or None, got str"):
        merge_filter("tenant = 'north'", found)


def nested(levels):
    inner = {"year": 2020}
    for _ in range(levels):
        inner = {"$not": inner}
    return inner


def cyclic():
    loop = {}
    loop["$and"] = [loop, loop]
    return loop


@pytest.mark.parametrize(
    ("structured", "message"),
    [
        (nested(30), "filter: nested more than 20 levels"),
        (cyclic(), "filter: nested more than 20 levels"),
        ({"$or": [{"year": 2020}] * 300}, "filter: more than 200 parts"),
        ("year > 2020", "filter: expected a structured query.*got str"),
        ({"$and": [7]}, "filter: expected .* got int"),
    ],
)
def test_what_is_no_filter_is_a_clear_error(guard, structured, message):
    with pytest.raises(InputError, match=message):
        guard.check_filter(structured, "surveys of 2020")
    with pytest.raises(InputError, match=f"developer_{message}"):
        guard.check_filter(None, "surveys of 2020", developer_filter=structured)
    with pytest.raises(InputError, match=message):
        guard.check("surveys of 2020", "surveys", filter=structured)


def test_bad_arguments_are_clear_errors(guard):
    with pytest.raises(InputError, match="max_limit: expected a whole number above 0"):
        guard.check_filter({}, "surveys", max_limit=0)
    with pytest.raises(InputError, match="reference_date: expected a date"):
        guard.check_filter({}, "surveys", reference_date="2025-05-01")
    with pytest.raises(InputError, match="turn"):
        guard.check_filter({}, 7)


def test_a_not_reaches_the_comparisons():
    either, neither = read_tree({"$not": {"a": 1, "b": {"$gt": 2}}}), read_tree({"$nor": [{"a": 1}, {"b": {"$ne": 2}}]})
    assert [(either[0].node.operator, [(p.comparator, p.negated) for p in either[0].node.parts])] == [
        ("or", [("eq", True), ("lte", False)])
    ]
    assert [(neither[0].node.operator, [(p.comparator, p.negated) for p in neither[0].node.parts])] == [
        ("and", [("eq", True), ("eq", False)])
    ]


NESTED = [
    ({"meta": {"date": {"$gte": "2024-05-01"}, "tenant": "north"}}, {"meta.date": "gte", "meta.tenant": "eq"}),
    ({"meta": {"date": "2024-05-01", "tenant": "north"}}, {"meta.date": "eq", "meta.tenant": "eq"}),
    ({"meta": {"date": "2024-05-01", "type": "permit"}}, {"meta.date": "eq", "meta.type": "eq"}),
    ({"meta": {"date": "2024-05-01"}}, {"meta.date": "eq"}),
    ({"meta": {"datetime": {"$lt": "2024-05-01"}}}, {"meta.datetime": "lt"}),
    ({"$and": [{"meta": {"date": "2024-05-01", "tenant": "north"}}]}, {"meta.date": "eq", "meta.tenant": "eq"}),
    ({"made": day("2024-05-01")}, {"made": "eq"}),
    ({"made": {"$gte": {"date": "2024-05-01"}}}, {"made": "gte"}),
    ({"or": "Oregon"}, {"or": "eq"}),
    ({"not": {"$ne": "x"}}, {"not": "eq"}),
    ({"meta": {"not": "x", "and": {"$gt": 2}}}, {"meta.not": "eq", "meta.and": "gt"}),
]


@pytest.mark.parametrize(("structured", "compared"), NESTED)
def test_no_field_of_a_nested_filter_is_lost(guard, structured, compared):
    found = [leaf for piece in read_tree(structured) for leaf in leaves(piece.node)]
    assert {leaf.attribute: leaf.comparator for leaf in found} == compared
    for field in compared:
        theirs = guard.check_filter({field: "south"}, "permits of south", developer_filter=structured)
        assert [violation.rule for violation in theirs.violations] == ["altered.developer"]


def test_a_date_of_many_parts_is_not_cut_to_one():
    both = {"date": "2024-05-01", "tenant": "north"}
    assert [leaf.value for piece in read_tree({"made": {"$gte": both}}) for leaf in leaves(piece.node)] == [both]
    with pytest.raises(InputError, match=r"filter: expected \$or for an operation, got or"):
        read_tree({"or": [{"a": 1}, {"b": 2}]})


def test_the_finding_reads_as_sentences_and_as_plain_values(guard):
    found = guard.check_filter({"price": {"$gt": 300}, "made": date(2020, 1, 1)}, "cabins under $300")
    assert found.explain().splitlines() == [
        "The filter says what the user did not.",
        'price gt 300: The user said "under $300", which keeps something else.',
        "made eq datetime.date(2020, 1, 1): No one in the conversation said it.",
    ]
    plain = found.to_dict()
    assert plain["violations"][0]["code"] == "altered.quantity"
    assert plain["violations"][1]["value"] == "2020-01-01"
    assert plain["kept"] == 0


def test_aliases_are_names_of_one_value():
    turn, structured = "open tickets about Big Blue", {"customer": "IBM"}
    assert Guard().check_filter(structured, turn).verdict is Verdict.CHANGED
    assert Guard(aliases={"IBM": ["big blue"]}).check_filter(structured, turn).verdict is Verdict.PRESERVED


KNOWN_MISSES = [
    ("letters in German", {"language": "de"}, Verdict.PRESERVED),  # codes of languages are not known
    ("funny films", {"genre": "comedy"}, Verdict.PRESERVED),  # nor is a catalogue's name of a thing
    ("cabins for more than 5 guests", {"guests": {"$gte": 6}}, Verdict.PRESERVED),  # true of counts alone
    ("films with Bo Berg", {"director": "Bo Berg"}, Verdict.CHANGED),  # the turn names no other field
]


@pytest.mark.parametrize(("turn", "structured", "verdict"), KNOWN_MISSES)
@pytest.mark.xfail(strict=True, reason="known misses")
def test_known_misses(guard, turn, structured, verdict):
    assert guard.check_filter(structured, turn).verdict is verdict


MOVED = [
    ("approved plans for bridges made in 2021", {"at": {"$gte": "2021-01-01", "$lt": "2022-01-01"}, "is": "approved"}),
    ("approved plans for bridges after 2021", {"made": {"$gt": "2021-12-31"}, "state": "approved"}),
    ("approved plans for bridges after 2021", {"$not": {"year": {"$lte": 2021}}, "state": "approved"}),
    ("approved plans for bridges under 5 km", {"length_km": {"$lt": 5}, "state": "approved"}),
    ("approved plans for bridges between 10 and 20 euros", {"price": {"$gte": 10, "$lte": 20}, "state": "approved"}),
    ("approved plans for bridges without tolls", {"features": {"$ne": "toll"}, "state": "approved"}),
    ("plans for bridges in Lund or Malmö", {"town": {"$in": ["Lund", "Malmö"]}}),
    ("plans for bridges in Lund or Malmö", {"$or": [{"town": "Lund"}, {"town": "Malmö"}]}),
    ("plans for bridges in Q3 2023", {"year": 2023, "quarter": 3}),
    ("plans for bridges made in March 2021", {"year": 2021, "month": 3}),
    ("plans for bridges made in June 2021", {"$and": [{"month": 6}, {"made.year": 2021}]}),
    ("plans for bridges made since 2020", {"made": {"$gte": "2020-01-01T00:00:00Z"}}),
    ("plans for bridges made since 2020", {"made": {"$gte": {"datetime": "2020-01-01T00:00:00Z", "type": "datetime"}}}),
    ("plans for bridges from 2018 to 2020", {"year": {"$in": [2018, 2019, 2020]}}),
    ("plans for bridges that are not approved", {"approved": False}),
    ("plans for approved bridges", {"approved": True}),
    ("plans for bridges newer than 2015", {"year": {"$gt": 2015}}),
    ("plans for bridges not older than 2015", {"year": {"$gte": 2015}}),
]  # fmt: skip


@pytest.mark.parametrize(("turn", "beside"), MOVED)
def test_what_moved_into_the_filter_counts_as_kept(guard, turn, beside):
    rewrite = "plans for bridges"
    assert guard.check(turn, rewrite).verdict is Verdict.CHANGED
    assert guard.check_filter(beside, turn).verdict is Verdict.PRESERVED
    kept = guard.check(turn, rewrite, filter=beside)
    assert kept.verdict is Verdict.PRESERVED, kept.explain()


STILL_LOST = [
    ("plans for bridges made in March 2021", {"year": 2021}),  # the month is nowhere
    ("plans for bridges made in 2021", {"made": {"$gte": "2021-01-01"}}),
    ("plans for bridges after 2021", {"year": {"$gte": 2021}}),
    ("plans for bridges under 5 km", {"length_km": {"$gt": 5}}),
    ("plans for bridges without tolls", {"features": "toll"}),
    ("plans for bridges with tolls for lorries", {"features": {"$nin": ["toll", "lorry"]}}),
    ("plans for bridges in Lund", {"town": {"$in": ["Lund", "Ystad"]}}),
    ("plans for bridges in Lund", {"$or": [{"town": "Lund"}, {"year": 2021}]}),
    ("plans for bridges in June 2021", {"month": 6}),
    ("plans for bridges in June 2021", {"month": 6, "year": 2020}),
    ("plans for bridges in June 2021", {"month": {"$ne": 6}, "year": 2021}),
    ("plans for bridges from 2018 to 2020", {"year": {"$in": [2018, 2019, 2020, 2021]}}),
    ("plans for bridges that are not approved", {"approved": True}),
    ("plans for bridges by x'or'y", {"author": "x'or'y; --"}),
]


@pytest.mark.parametrize(("turn", "beside"), STILL_LOST)
def test_what_the_filter_does_not_say_is_still_lost(guard, turn, beside):
    assert guard.check(turn, "plans for bridges", filter=beside).verdict is not Verdict.PRESERVED
