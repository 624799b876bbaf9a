"""Filters of lists, as a page's form sends them: an empty field is no filter."""

from urllib.parse import urlencode

from starlette.requests import Request


class FilterValues(dict[str, str]):
    """The chosen filters, for the form and for links; a filter that is not set is empty."""

    def __missing__(self, name: str) -> str:
        return ""

    def link(self, **others: str | None) -> str:
        """Return a query string with these filters and others; None removes one."""
        chosen = {name: value for name, value in (self | others).items() if value}
        return f"?{urlencode(chosen)}" if chosen else "?"

    def without(self, *names: str) -> "FilterValues":
        """Return these filters without some."""
        return FilterValues({name: value for name, value in self.items() if name not in names})


def chosen(request: Request, *names: str) -> FilterValues:
    """Return the named filters from the request."""
    return FilterValues({name: request.query_params[name] for name in names if request.query_params.get(name)})
