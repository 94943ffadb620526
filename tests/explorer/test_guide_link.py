"""The sidebar links the guide where a deployment says where it is."""

import pytest
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest


@pytest.mark.parametrize(
    ("address", "linked"), [("https://docs.example/mirage", 1), ("", 0), ("javascript:alert(1)", 0)]
)
def test_the_guide_is_linked_if_its_address_is_set(address: str, linked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_GUIDE_URL", address)
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    assert not page.exception
    links = [element for element in page.sidebar if element.type == "link_button"]
    assert [element.proto.url for element in links] == [address, f"{address}/tour.html"] * linked
