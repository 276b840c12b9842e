"""The ``client.properties`` of Kafka's own tools, by an allow-list of keys. Values are never printed.

Source of the keys: ``SaslConfigs.java``, ``SslConfigs.java``, ``CommonClientConfigs.java@3.9.2``.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from casebook.collect import outside
from casebook.collect.redaction import is_sensitive
from casebook.errors import UsageError

_LARGEST = 1 << 20
_ALLOWED = re.compile(
    r"security\.protocol|client\.dns\.lookup|security\.providers"
    r"|sasl\.(?:mechanism|jaas\.config|kerberos\.[a-z.]+|login\.[a-z.]+|oauthbearer\.[a-z.]+|client\.callback\.handler\.class)"
    r"|ssl\.(?:protocol|enabled\.protocols|provider|cipher\.suites|endpoint\.identification\.algorithm|secure\.random\.implementation"
    r"|keymanager\.algorithm|trustmanager\.algorithm|engine\.factory\.class"
    r"|keystore\.(?:type|location|password|key|certificate\.chain)|key\.password|truststore\.(?:type|location|password|certificates))"
    r"|config\.providers(?:\.[\w.-]+)?"
)
_CLASSES = re.compile(
    r"security\.providers|config\.providers\.[\w-]+\.class|[a-z.]+\.(?:handler|factory)\.class|sasl\.login\.class"
)
"""Keys whose values are classes."""
_LOGIN_MODULE = re.compile(r"([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b")
_OWN_CLASS = re.compile(r"org\.apache\.kafka\.[\w.$]+|com\.sun\.security\.auth\.module\.Krb5LoginModule")
_KEY = re.compile(r"(?=.{3,60}$)[a-z]+(?:[.-][a-z0-9]+)+")
"""Key of any setting of Kafka."""
_OPTION = re.compile(r"""([\w.]+)\s*=\s*("(?:\\.|[^"\\])*"|'[^']*'|[^\s;]+)""")
"""Option of a login module."""
_SECRET = re.compile(r".*password|ssl\.keystore\.(?:key|certificate\.chain)|sasl\.jaas\.config")
_SHORTEST = 3
"""Characters of a secret that can be recognized in other text."""
_ENDPOINTS = re.compile(r"sasl\.oauthbearer\.(?:token|jwks)\.endpoint\.url")


class ClientConfig(NamedTuple):
    """Settings of a client.

    Args:
        settings: By Kafka's names.
        ignored: Keys of the file that are not passed on.
        strange: Number of further lines, whose keys cannot be Kafka's: they may be parts of a secret of several lines.
        name: Name of the file; ``""`` without one.
    """

    settings: Mapping[str, str] = {}
    ignored: tuple[str, ...] = ()
    strange: int = 0
    name: str = ""

    @classmethod
    def load(cls, path: Path, *, has_jars: bool = False) -> "ClientConfig":
        """Read the file.

        Args:
            path: Path of the file.
            has_jars: Whether the user gave jars with classes of their own.

        Raises:
            CollectError: It is unreadable.
            UsageError: It names a class that is not Kafka's.
        """
        found = outside.properties_of(path, "The client properties", most=_LARGEST)
        settings = {key: value for key, value in found.items() if _ALLOWED.fullmatch(key)}
        if not has_jars:
            _refuse_foreign_classes(settings, path)
        others = found.keys() - settings.keys() - {"bootstrap.servers"}
        ignored = tuple(sorted(filter(_KEY.fullmatch, others)))
        return cls(settings=settings, ignored=ignored, strange=len(others) - len(ignored), name=Path(path).name)

    @property
    def system_properties(self) -> Mapping[str, str]:
        """System properties of Java that these settings need: Kafka asks only listed token servers (``@3.9.2``)."""
        urls = sorted({value for key, value in self.settings.items() if _ENDPOINTS.fullmatch(key)})
        return {"org.apache.kafka.sasl.oauthbearer.allowed.urls": ",".join(urls)} if urls else {}


def secrets(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets of a client's settings, as they could appear in a message, longest first."""
    found = {value for key, value in settings.items() if _SECRET.fullmatch(key)}
    for name, value in _OPTION.findall(settings.get("sasl.jaas.config", "")):
        if is_sensitive(name):
            found |= {value, value.strip("\"'")}
    return tuple(sorted((text for text in found if len(text) >= _SHORTEST), key=lambda text: (-len(text), text)))


def _refuse_foreign_classes(settings: Mapping[str, str], path: Path) -> None:
    for key, value in settings.items():
        named = value.split(",") if _CLASSES.fullmatch(key) else _LOGIN_MODULE.findall(value) if key == "sasl.jaas.config" else []
        for name in filter(None, map(str.strip, named)):
            if not _OWN_CLASS.fullmatch(name):
                raise UsageError(
                    f"{key} in {path} needs a class that Kafka's own client does not have: {name}.",
                    try_="Give its jar: --client-jar FILE.",
                )
