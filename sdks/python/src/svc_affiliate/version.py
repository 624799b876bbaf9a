"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("svc-affiliate")
except PackageNotFoundError:  # a checkout that is not installed
    VERSION = "0"
