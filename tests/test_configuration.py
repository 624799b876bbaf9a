"""The environment as the service reads it: defaults, types, and one clear line for each wrong variable."""

import pytest

import configuration
from configuration import Configuration, ConfigurationError
from tests.tables import table

WRONG = table("wrong_settings.toml")


def test_a_wrong_value_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch):
    for variable, value in [(name, value) for name, values in WRONG.items() for value in values]:
        with monkeypatch.context() as patched:
            patched.setenv(variable, value)
            with pytest.raises(ConfigurationError) as raised:
                configuration.load()

        assert str(raised.value).startswith(f"{variable}: "), value
        assert len(str(raised.value).splitlines()) == 1, value


def test_an_error_does_not_repeat_a_password(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_DATABASE_URL", "mysql://svc:hunter2@localhost/svc")

    with pytest.raises(ConfigurationError) as raised:
        configuration.load()

    assert "hunter2" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_the_environment_sets_the_configuration(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_BASE_URL", "https://track.example/")
    monkeypatch.setenv("SVC_PRIVATE_CLIENT_HOSTS", "one.example, two.example,")
    monkeypatch.setenv("SVC_REDIS_URL", "")

    config = configuration.load()

    assert (config.base_url, config.mcp_url) == ("https://track.example", "https://track.example/mcp")
    assert config.private_client_hosts == ("one.example", "two.example")
    assert config.redis_url is None


def test_assistants_sign_in_only_over_https_or_on_this_machine_and_rates_apply_unless_limits_are_off():
    urls = ["https://track.example", "http://localhost:8000", "http://track.example"]
    on, off = Configuration(mcp_rate="9/hour"), Configuration(mcp_rate="9/hour", rate_limit=False)

    assert [Configuration(base_url=url).assistants_sign_in for url in urls] == [True, True, False]
    assert (on.limited(on.mcp_rate), off.limited(off.mcp_rate)) == ("9/hour", None)
