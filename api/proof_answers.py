"""What the API answers about proofs: keys, challenges with their evidence, disputes."""

from typing import Literal

import msgspec

from domain.dispute_stream import Dispute, Outcome, State
from domain.disputes import Claim, Finding
from domain.evidence import Challenge, Side
from domain.receipts import PublicKey, Receipt
from domain.seats import Seat
from domain.times import format_at
from domain.visibility import Viewer


class KeySet(msgspec.Struct, frozen=True):
    """Public keys as a JWK set (RFC 7517); `nbf` and `exp` are the seconds since 1970 between which
    a key signs."""

    keys: tuple[PublicKey, ...]


class EvidenceView(msgspec.Struct, frozen=True):
    """What a challenge rests on: every trick that either player had taken in the hand, with the
    versions that say so."""

    challenger: Side
    challenged: Side


class ChallengeView(msgspec.Struct, frozen=True):
    """A challenge: `seat` challenged `challenged`, and the event of `version` decided."""

    number: int
    hand: int
    version: int
    seat: Seat
    challenged: Seat
    upheld: bool
    verdict: Literal["upheld", "rejected"]
    evidence: EvidenceView


class ChallengesPage(msgspec.Struct, frozen=True):
    """A game's challenges in order, on one page."""

    items: tuple[ChallengeView, ...]
    next: None


class ClaimView(msgspec.Struct, frozen=True):
    """What is claimed; `text` is null where none was given, or it has been erased."""

    kind: Claim
    text: str | None


class ResolutionView(msgspec.Struct, frozen=True):
    """How the host settled a dispute."""

    outcome: Outcome
    note: str | None
    at: str


class DisputeView(msgspec.Struct, frozen=True):
    """A dispute about the event `version` of `game`. `finding.verdict` is `contradicted` where the
    log does not bear the event out, `consistent` where it does, `pending` until the hand is
    opened."""

    id: str
    game: str
    version: int
    claim: ClaimView
    by: Viewer
    receipt: Receipt | None
    state: State
    opened_at: str
    finding: Finding | None
    resolution: ResolutionView | None


class DisputesPage(msgspec.Struct, frozen=True):
    """A page of disputes, newest first; `next` is the cursor of the next page, null at the end.
    `as_of` is the log position that the list holds at the least."""

    items: tuple[DisputeView, ...]
    next: str | None
    as_of: int


class ErasedAnswer(msgspec.Struct, frozen=True):
    """In how many games there was something to erase."""

    games: int


def dispute_view(dispute: Dispute) -> DisputeView:
    """A dispute as answered."""
    opened, settled = dispute.opened, dispute.resolution
    return DisputeView(
        id=dispute.id,
        game=opened.game,
        version=opened.disputed,
        claim=ClaimView(opened.claim, None if opened.words is None else opened.words.text),
        by=Viewer(opened.by, opened.seat),
        receipt=opened.receipt,
        state=dispute.state,
        opened_at=format_at(dispute.opened_at),
        finding=dispute.finding,
        resolution=None
        if settled is None
        else ResolutionView(settled.outcome, settled.note, format_at(settled.at)),
    )


def challenge_view(found: Challenge) -> ChallengeView:
    """A challenge as answered."""
    return ChallengeView(
        number=found.number,
        hand=found.hand,
        version=found.version,
        seat=found.seat,
        challenged=found.challenged,
        upheld=found.upheld,
        verdict="upheld" if found.upheld else "rejected",
        evidence=EvidenceView(found.challenger_evidence, found.challenged_evidence),
    )
