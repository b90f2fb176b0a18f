import runpy
from pathlib import Path

CI = Path(__file__).parents[3] / ".ci" / "languages_table.py"


def test_table_in_the_readme_is_that_of_the_folders():
    """`.ci/languages_table.py` writes it anew."""
    generator = runpy.run_path(str(CI))
    text = generator["README"].read_text("utf-8")
    assert generator["with_table"](text) == text
