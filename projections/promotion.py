"""A new version's build put in the place of an earlier one's, without anyone asking."""

from collections.abc import Mapping

from projections.builds import builds, claim, not_for_long, stand_still, switch
from projections.pages import Pages, advance
from projections.projection import Projection
from projections.writing import Writer


async def bring_to(
    conn: Writer,
    pages: Pages,
    projection: Projection,
    build: int,
    seqs: Mapping[int, int],
    goal: Mapping[int, int],
) -> None:
    """Bring a build from its checkpoints `seqs`, which the transaction holds, to others, lane by
    lane. Raises as `pages.advance` does."""
    for lane, last in goal.items():
        left = last - seqs[lane]
        while left > 0:
            left -= await advance(conn, pages, projection, build, {lane: last})
            pages.forget()


async def promote(conn: Writer, pages: Pages, projection: Projection) -> bool:
    """Let the build of this version of a projection take the place of an earlier version's; whether
    it did. False: somebody else has the claim, or there are no two such builds.

    Meant for when little is left: what the earlier one has and the new one has not is taken in
    first, while readers wait for nothing. Raises as `pages.advance` does; LockNotAvailable where
    runners or readers are in the way.
    """
    async with conn.transaction():
        if not await claim(conn, projection.name):
            return False
        await not_for_long(conn)
        own = {build.state: build for build in await builds(conn, [projection.name])}
        old, new = own.get("live"), own.get("building")
        if old is None or new is None or not old.version < new.version == projection.version:
            return False
        seqs = await stand_still(conn, projection.name)
        before, now = seqs[old.build], seqs[new.build]
        goal = {lane: max(seq, before[lane]) for lane, seq in now.items()}
        await bring_to(conn, pages, projection, new.build, now, goal)
        await switch(conn, projection, old, new)
    return True
