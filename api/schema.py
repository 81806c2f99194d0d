"""placeholder"""

from typing import Any

from litestar.openapi import OpenAPIConfig

CONFIG = OpenAPIConfig(title="Fairdeal", version="0.1.0")
PLUGINS: list[Any] = []
