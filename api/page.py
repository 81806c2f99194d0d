"""The OpenAPI document as a page to read: plain HTML of our own that loads nothing."""

from collections.abc import Iterator
from html import escape
from json import dumps
from typing import Any, Final

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
}

_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1b1b; background: #fff }
pre { background: #f4f4f1; padding: .75rem; overflow-x: auto; font-size: 13px }
summary { cursor: pointer; padding: .3rem 0 } summary b { display: inline-block; width: 4rem }
code { background: #f4f4f1; padding: .1rem .25rem } details details { margin-left: 1.5rem }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161616 }
  pre, code { background: #262626 } a { color: #9cf } }
"""


def render(document: dict[str, Any]) -> str:
    """The page for an OpenAPI document."""
    return "".join(_page(document))


def _page(document: dict[str, Any]) -> Iterator[str]:
    info = document["info"]
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>"
    yield "<meta name=viewport content='width=device-width, initial-scale=1'>"
    yield f"<style>{_STYLE}</style><h1>{escape(info['title'])} {escape(info['version'])}</h1>"
    yield f"<p>{escape(info.get('description', ''))}</p>"
    yield "<p>For programs: <a href=/schema/openapi.json>openapi.json</a> (OpenAPI 3.1)</p>"
    for tag in document.get("tags", ()):
        yield f"<h2>{escape(tag['name'])}</h2><p>{escape(tag.get('description', ''))}</p>"
        for path, item in document["paths"].items():
            for method, operation in item.items():
                if tag["name"] in operation.get("tags", ()):
                    yield from _operation(path, method, operation)
    yield "<h2>schemas</h2>"
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f"<details id='{escape(name)}'><summary><code>{escape(name)}</code></summary>"
        yield f"{_json(schema)}</details>"


def _operation(path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
    yield f"{escape(operation.get('summary', ''))}</summary>"
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    callers = [name for wanted in operation.get("security", ()) for name in wanted]
    yield f"<p>For: {escape(', '.join(callers) or 'everyone')}</p><ul>"
    for parameter in operation.get("parameters", ()):
        yield f"<li><code>{escape(parameter['name'])}</code> ({escape(parameter['in'])}) "
        yield f"{escape(parameter.get('description', ''))}</li>"
    yield "</ul>"
    for title, content in _contents(operation):
        yield f"<details><summary>{escape(title)}</summary>"
        for example in content.get("examples", {}).values():
            value = example["value"]
            yield f"<pre>{escape(value)}</pre>" if isinstance(value, str) else _json(value)
        yield f"{_json(content.get('schema', {}))}</details>"
    yield "</details>"


def _contents(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Request {media}", content
    for status, response in operation["responses"].items():
        title = f"{status} {response.get('description', '')}"
        for media, content in response.get("content", {}).items():
            yield f"{title} ({media})", content


def _json(value: Any) -> str:
    return f"<pre>{escape(dumps(value, indent=2, ensure_ascii=False))}</pre>"
