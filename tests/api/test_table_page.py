"""The files of the table in the browser, as the API serves them."""

import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from api.routes.table import static_files
from tests.api.running import problem

FOLDER = Path(__file__).parents[2] / "api" / "table"
MODULES = sorted(FOLDER.rglob("*.js"))


async def test_the_page_is_open_to_all_and_loads_nothing_from_elsewhere(
    shared_api: httpx.AsyncClient,
) -> None:
    answer = await shared_api.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    for named in re.findall(r'(?:src|href)="([^"#]+)"', answer.text):
        assert named.startswith("/")
        assert (await shared_api.get(named)).status_code == 200
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", answer.text)


async def test_every_file_is_served_as_what_it_is(shared_api: httpx.AsyncClient) -> None:
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    for path in FOLDER.rglob("*.*"):
        if path.suffix not in kinds:
            continue
        answer = await shared_api.get(f"/table/{path.relative_to(FOLDER).as_posix()}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kinds[path.suffix])
        assert answer.headers["content-security-policy"]
        assert answer.content == path.read_bytes()


async def test_an_unchanged_file_is_not_sent_again(shared_api: httpx.AsyncClient) -> None:
    first = await shared_api.get("/table/src/main.js")
    again = {"If-None-Match": first.headers["etag"]}
    answer = await shared_api.get("/table/src/main.js", headers=again)
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == first.headers["etag"]
    other = await shared_api.get("/table/src/main.js", headers={"If-None-Match": '"another"'})
    assert other.status_code == 200


@pytest.mark.parametrize(
    "path", ["/table/none.js", "/table/../app.py", "/table/%2e%2e/app.py", "/table/src", "/table"]
)
async def test_nothing_else_is_served(shared_api: httpx.AsyncClient, path: str) -> None:
    problem(await shared_api.get(path), 404, "not-found")


async def test_it_is_no_part_of_the_api(shared_api: httpx.AsyncClient) -> None:
    document = (await shared_api.get("/schema/openapi.json")).json()
    assert not [path for path in document["paths"] if path == "/" or path.startswith("/table")]


def test_no_file_is_forgotten() -> None:
    on_disk = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert set(static_files()) == on_disk


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_module_makes_no_markup_of_text_and_is_well_formed(module: Path, tmp_path: Path) -> None:
    """What others have written can only ever become text; other hosts are named nowhere."""
    source = module.read_text(encoding="utf-8")
    banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc"
    assert not re.search(banned, source)
    assert not [url for url in re.findall(r"https?://[^\"'` ]+", source) if "w3.org" not in url]
    for imported in re.findall(r'from "([^"]+)"', source):
        assert (module.parent / imported).resolve().is_file()
    if (node := shutil.which("node")) is None:
        pytest.skip("no Node.js to read the module with")
    copy = tmp_path / "module.mjs"
    copy.write_text(source, encoding="utf-8")
    subprocess.run([node, "--check", str(copy)], check=True, capture_output=True)
