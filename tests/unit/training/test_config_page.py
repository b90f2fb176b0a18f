import runpy
from pathlib import Path

CI = Path(__file__).parents[3] / ".ci" / "training_table.py"


def test_page_of_fields_is_that_of_the_classes():
    """`.ci/training_table.py` writes it anew."""
    generator = runpy.run_path(str(CI))
    assert generator["PAGE"].read_text("utf-8") == generator["page"]()
    assert "| None |" not in generator["page"]()
