import re
from pathlib import Path

from sandbox_service.settings import Settings

EXAMPLE = Path(__file__).parents[3] / "deploy" / ".env.example"
FIELDS = dict(re.findall(r"^#?SANDBOX_(\w+)=(.*)$", EXAMPLE.read_text(), re.MULTILINE))


def test_env_example_lists_the_fields_of_settings_in_their_order():
    """`.ci/env_example.py` writes the file anew."""
    assert [name.lower() for name in FIELDS] == list(Settings.model_fields)


def test_env_example_shows_the_defaults(monkeypatch):
    for name, value in FIELDS.items():
        if value:
            monkeypatch.setenv(f"SANDBOX_{name}", value)
    assert Settings() == Settings.model_construct(**_defaults())


def test_env_example_describes_every_field():
    text = EXAMPLE.read_text()
    for field in Settings.model_fields.values():
        first_words = " ".join((field.description or "").split()[:4])
        assert first_words
        assert first_words in text


def _defaults():
    return {name: field.get_default() for name, field in Settings.model_fields.items()}
