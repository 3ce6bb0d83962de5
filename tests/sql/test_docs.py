"""The questions of docs/sql.md are answered."""

import re
from pathlib import Path

import pytest

from trajscope.store import Store

PAGE = Path(__file__).parents[2] / "docs" / "sql.md"
QUESTIONS = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_question_of_the_page_runs(sql: str) -> None:
    with Store.open() as store:
        assert list(store.query(sql).rows) == []


def test_the_page_names_every_relation() -> None:
    text = PAGE.read_text("utf-8")
    with Store.open() as store:
        missing = [r.name for r in store.schema() if f"`{r.name}`" not in text]
    assert missing == ["schema_info"] or missing == []
