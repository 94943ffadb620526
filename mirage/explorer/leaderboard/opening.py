"""The card that opens the program: a question of the bundled sample with two answers, one of them wrong.

The choice is not a vote, and is not stored beyond the session.
"""

import streamlit as st

from mirage.explorer.kit.frame import SAMPLE, Page, show_page_link
from mirage.explorer.kit.pick import link_state
from mirage.explorer.kit.table import page_link
from mirage.explorer.kit.text import note
from mirage.ranking.judges import LabelJudge
from mirage.store import arena
from mirage.store.arena import open_arena
from mirage.views.system_cards import card_of

REAL = "nomiracl"
"""The bundled arena of real answers that shows the card."""
QUERY = ("en", "en-09")
"""A question that none of its passages answers."""
SYSTEMS = ("thorough", "reference")
"""One answers all the same and cites a passage; the other says that the passages do not answer."""
_STATE = "_opening"
_OPEN = "open"
_CLOSED = "closed"


def is_open(page: Page) -> bool:
    """Return whether to draw the card: on the default arena, opened without a state, until it is answered and left."""
    bundled = arena.bundled_arenas()
    here = SAMPLE in bundled and page.arena.path == bundled.get(REAL)
    state = st.session_state.setdefault(_STATE, _OPEN if here and not link_state().carried else _CLOSED)
    if link_state().arrived and state != _OPEN:
        st.session_state[_STATE] = _CLOSED
    return here and st.session_state[_STATE] != _CLOSED


def show() -> None:
    """Show the card; after the choice the systems, the wrong decision and what the labels say."""
    # Answers and votes are half as much again to import as a leaderboard, which most links open alone.
    from mirage.explorer.kit import answer_card, battle_sides
    from mirage.views.battle import battle_view

    chosen = st.session_state[_STATE]
    sample = open_arena(arena.bundled_arenas()[SAMPLE])
    battle = battle_view(sample, QUERY, *SYSTEMS, LabelJudge())
    with st.container(border=True, key="opening"):
        with st.container(horizontal=True, key="spot_body", gap="medium"):
            with st.container(key="spot_asked", gap="small"):
                answer_card.show_query(battle.query)
                if chosen == _OPEN:
                    battle_sides.show_sides(battle, labels=False)
                else:
                    layout = battle_sides.BattleLayout("first", True, "")
                    st.html(battle_sides.answer_sides(battle, layout, texts=True))
            with st.container(key="spot_given", height=350, border=False):
                answer_card.show_passages(battle.query, labels=chosen != _OPEN)
        if chosen != _OPEN:
            cards = [card_of(sample, system) for system in SYSTEMS]
            who = [
                f"{letter} is {card.system} ({card.about})" for letter, card in zip("AB", cards, strict=True) if card
            ]
            note(f"You chose {chosen}. By relevance labels: {battle.conclusion} {', '.join(who)}.")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if chosen == _OPEN:
                for letter in "AB":
                    label, key = battle_sides.BATTLE[letter]
                    st.button(label, key=f"opening_{letter}", shortcut=key, on_click=_set, args=(letter,))
                note("Written for the sample. Which answer do you trust? Press 1 or 2; nothing is stored.")
            else:
                link = page_link("spot_check", "Judge more answers →", arena=SAMPLE)
                st.html(f'<span class="mg-onward">{link}</span>')
                show_page_link("hallucination", "Every model's rates")
            st.button("Close", key="opening_close", type="tertiary", on_click=_set, args=(_CLOSED,))


def _set(state: str) -> None:
    st.session_state[_STATE] = state
