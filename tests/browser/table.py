"""A server with games on it, people who open pages on it, and how one plays on a page."""

from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS, Json, bearer


def at_pace(pace: str) -> str:
    """A script that has the page show what others do at a pace."""
    return f"""if (location.protocol === 'http:')
        localStorage.setItem('fairdeal.settings', JSON.stringify({{pace: '{pace}'}}));"""


HAND = ".hand button.playable"
WAYS = ".choices-region button"


class House:
    """A running server, and games on it set up as a host does."""

    def __init__(self, address: str) -> None:
        self.address = address

    @staticmethod
    def environment(database_url: str) -> dict[str, str]:
        """What its process is started with."""
        return {
            "FAIRDEAL_DATABASE_URL": database_url,
            "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
            "FAIRDEAL_SECRET": SECRET,
            "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        }

    def game(self, game: str, people: list[str], bots: int = 0, **more: Any) -> "Played":
        """A new game of these people and careful bots."""
        players = [{"name": name} for name in people] + [{"bot": "careful"}] * bots
        body = {"game": game, "players": players, **more}
        answer = httpx.post(f"{self.address}/v1/games", json=body, headers=bearer(HOST_KEY))
        assert answer.status_code == 201, answer.text
        return Played(self, answer.json())


class Played:
    """A game, and what the API says of it."""

    def __init__(self, house: House, created: Json) -> None:
        self.house = house
        self.id: str = created["id"]
        self.path = f"{house.address}/v1/games/{self.id}"
        self.tokens: list[str | None] = [seat["token"] for seat in created["seats"]]

    def link(self, seat: int) -> str:
        """The link that invites to a seat."""
        return f"{self.house.address}/#game={self.id}&token={self.tokens[seat]}"

    def ask(self, who: int | None, path: str = "") -> Json:
        """GET as a seat, or (None) as the host."""
        answer = httpx.get(self.path + path, headers=bearer(self._key(who)), timeout=30)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def act(self, seat: int, action: Json) -> Json:
        """Make an action past any page."""
        answer = httpx.post(
            f"{self.path}/actions", json=action, headers=bearer(self._key(seat)), timeout=30
        )
        assert answer.status_code == 201, answer.text
        done: Json = answer.json()
        return done

    def finished(self) -> Json:
        """The host's view once the game is over, which bots among themselves bring about."""
        view = self.ask(None)
        while view["status"] == "playing":
            view = self.ask(None, f"?after={view['version']}&wait=10")
        return view

    def _key(self, who: int | None) -> str:
        key = HOST_KEY if who is None else self.tokens[who]
        assert key is not None
        return key


class Desk:
    """The browsers of several people. Whatever a page complains about, or asks of another host, is
    found at the end."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.allowed: tuple[str, ...] = ()
        """Parts of complaints that a test brings about on purpose."""

    async def person(
        self, width: int = 1200, height: int = 900, pace: str = "at once", **more: Any
    ) -> BrowserContext:
        """The browser of one more person: nothing of anyone else's is in it."""
        context = await self._browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", **more
        )
        context.set_default_timeout(15_000)
        await context.add_init_script(at_pace(pace))
        context.on("console", lambda m: self._heard(m.type, m.text))
        context.on("weberror", lambda e: self._heard("error", str(e.error)))
        context.on("request", lambda request: self.asked.append(request.url))
        self._contexts.append(context)
        return context

    async def open(self, url: str, **more: Any) -> "Seat":
        """A page of a new person's browser at an address."""
        context = await self.person(**more)
        page = await context.new_page()
        await page.goto(url)
        return Seat(page)

    def seat(self, page: Page) -> "Seat":
        """What one does on a page that a test has opened itself."""
        return Seat(page)

    async def forget(self) -> None:
        """Close everybody's browser now, before what they look at is gone."""
        for context in self._contexts:
            await context.close()

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(part in text for part in self.allowed):
            self.complaints.append(f"{kind}: {text}")

    async def close(self) -> None:
        hosts = {urlsplit(url).hostname for url in self.asked if url.startswith("http")}
        # A fragment is for the page alone: it is told here and never sent.
        sent = [url.partition("#")[0] for url in self.asked]
        secrets = [url for url in sent if "token" in url or "key=" in url or HOST_KEY in url]
        await self.forget()
        assert not self.complaints, self.complaints
        assert hosts <= {"127.0.0.1"}, hosts
        assert not secrets, secrets


class Seat:
    """A page, and what one does on it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def version(self) -> int:
        """The version of the game that the page shows."""
        main = self.page.locator("main[data-version]")
        return int(await main.get_attribute("data-version") or 0)

    async def reach(self, version: int) -> Self:
        """Wait until the page shows at least this version."""
        await self.page.wait_for_function(
            "v => Number(document.querySelector('main').dataset.version ?? 0) >= v", arg=version
        )
        return self

    async def cards(self) -> list[str]:
        """The cards of the hand that is shown."""
        return await self.page.locator(".hand [data-card]").evaluate_all(
            "cards => cards.map((card) => card.dataset.card).sort()"
        )

    async def every_card(self) -> set[str]:
        """All the cards that are anywhere on the page."""
        found = await self.page.locator("[data-card]").evaluate_all(
            "cards => cards.map((card) => card.dataset.card)"
        )
        return set(found)

    async def step(self, choose: str | None = None) -> int:
        """Take the first action that the page offers (or `choose`); the version it is at then."""
        before = await self.version()
        await self.page.locator(choose or f"{HAND}, {WAYS}").first.click()
        await self.reach(before + 1)
        return await self.version()

    async def report(self) -> dict[str, list[tuple[str, str]]]:
        """Check the game on the page; the findings by status, with their words."""
        await self.page.get_by_role("button", name="Check this game").click()
        await expect(self.page.locator(".summary")).to_be_visible()
        found: dict[str, list[tuple[str, str]]] = {
            "passed": [],
            "failed": [],
            "not_yet_possible": [],
        }
        for check, status, words in await self.page.locator(".finding").evaluate_all(
            "all => all.map((one) => [one.dataset.check, one.dataset.status, one.textContent])"
        ):
            found[status].append((check, words))
        return found
