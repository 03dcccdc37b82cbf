"""Writes templates, and pages: one HTML file that asks for nothing else, whatever words it shows (extra `report`)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import rewriteguard
from rewriteguard.report.table import many, percent, worded

if TYPE_CHECKING:
    from typing import TextIO


def write_page(target: TextIO, name: str, values: Mapping[str, Any], filters: Mapping[str, Callable[..., Any]]) -> None:
    """Writes the page of the template `name`, with the style and the script of that name behind the common ones.

    Args:
        target: Where the page goes.
        name: Of the files `name.html.j2`, `name.css` and `name.js`.
        values: What the template shows.
        filters: Further filters that the template uses.
    """
    script = _asset("base.js") + _asset(f"{name}.js")
    common = {
        "version": rewriteguard.__version__,
        "style": Markup(_asset("base.css") + _asset(f"{name}.css")),
        "script": Markup(script),
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    write(target, f"{name}.html.j2", {**common, **values}, filters)


def write(target: TextIO, template: str, values: Mapping[str, Any], filters: Mapping[str, Callable[..., Any]]) -> None:
    """Writes what a template makes of the values; words are escaped in HTML alone."""
    for piece in environment(filters).get_template(template).generate(values):
        # Half a surrogate pair is no text that anything could show.
        target.write(piece.encode("utf-8", "replace").decode("utf-8"))


def environment(filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """The templates, with the given filters beside those of every one."""
    made = Environment(
        loader=PackageLoader("rewriteguard.report"),
        autoescape=lambda name: name is None or name.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update({"percent": percent, "worded": worded, "many": many, **filters})
    return made


def inert_json(value: Any) -> str:
    """The value as JSON that stays data inside a script element: nothing in it opens or ends markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode("utf-8", "backslashreplace").decode()


def _asset(name: str) -> str:
    return resources.files("rewriteguard.report").joinpath("templates", name).read_text("utf-8")
