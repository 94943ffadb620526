"""A login with a provider of OpenID Connect: Streamlit's own, a provider on this machine, a real browser."""

import json
from pathlib import Path

import browser
import pytest
import waiting
from conftest import PATIENCE, ROOT

from mirage.people.votes import rows
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::Warning:oidc_provider_mock", "ignore::DeprecationWarning"),
]
EMAIL = "zoë@example.org"


def secrets(folder: Path, port: int, issuer: str) -> Path:
    """What a deployment writes into Streamlit's file of secrets."""
    file = folder / "secrets.toml"
    values = {
        "redirect_uri": f"http://127.0.0.1:{port}/oauth2callback",
        "cookie_secret": "0" * 32,
        "client_id": "mirage",
        "client_secret": "of-the-client",
        "server_metadata_url": f"{issuer}/.well-known/openid-configuration",
    }
    file.write_text("[auth]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items()), "utf-8")
    return file


def test_a_person_logs_in_votes_takes_their_votes_away_and_is_forgotten(tmp_path: Path) -> None:
    mock = pytest.importorskip("oidc_provider_mock")
    from playwright.sync_api import sync_playwright

    assert browser.CHROMIUM
    user = mock.User(sub=EMAIL, claims={"email": EMAIL, "email_verified": True})
    database = f"sqlite:///{tmp_path / 'votes.sqlite'}"
    roles = tmp_path / "roles.toml"
    roles.write_text(f'voters = ["{EMAIL}"]\n', "utf-8")
    with mock.run_server_in_thread(user_claims=[user]) as provider, waiting.port() as port:
        file = secrets(tmp_path, port, f"http://localhost:{provider.server_port}")
        environment = {
            "MIRAGE_HOME": str(tmp_path / "home"),
            "MIRAGE_VOTES_URL": database,
            "MIRAGE_LOGIN": "required",
            "MIRAGE_ROLES": str(roles),
            "STREAMLIT_SECRETS_FILES": str(file),
        }
        with browser.server(at=port, **environment) as url, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser.CHROMIUM, args=["--no-sandbox"])
            page = chromium.new_page()
            page.set_default_timeout(1000 * PATIENCE)
            view = f"{url}/spot_check?arena=sample&language=en"
            page.goto(view)
            page.get_by_text("Log in to vote").wait_for()
            page.get_by_role("button", name="Log in").click()
            page.wait_for_url(f"http://localhost:{provider.server_port}/**")
            page.locator("input[name=sub]").fill(EMAIL)
            page.locator("button[type=submit]").first.click()
            page.wait_for_url(f"{url}/**")
            page.goto(view)
            page.get_by_role("button", name="Tie").click()
            page.get_by_role("button", name="Undo").wait_for()
            with Votes(database) as db:
                assert [row.voter for row in db.rows(Vote)] == [EMAIL]
                page.locator(".st-key-yours_open button").first.click()
                with page.expect_download() as downloading:
                    page.get_by_role("button", name="Download all").click()
                kept = json.loads(Path(downloading.value.path()).read_text("utf-8"))
                assert [row["vote"] for row in kept["battles"]] == ["tie"]
                page.locator(".st-key-yours_certain label").first.click()
                page.locator(".st-key-yours_erase button").first.click()
                page.get_by_text("Your name was removed").wait_for()
                waiting.until(lambda: not db.rows(Vote, voter=EMAIL), "the name is gone")
                assert [row.vote for row in rows.valid_votes(db.rows(Vote))] == ["tie"]
            chromium.close()


def test_the_program_asks_for_no_login_where_none_is_set_up() -> None:
    assert not (ROOT / ".streamlit" / "secrets.toml").exists()
