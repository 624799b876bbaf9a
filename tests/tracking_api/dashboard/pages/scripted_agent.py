"""An agent without a model: it knows an address and its key, and finds every path in the service's own documents."""

import re
from typing import Any, Self
from urllib.parse import urljoin

import httpx

from tests.serving import PLAIN


class ScriptedAgent(httpx.AsyncClient):
    """What the documents say, and calls of what they name."""

    document: dict[str, Any]

    def __init__(self, base_url: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        super().__init__(base_url=base_url, headers=headers, verify=PLAIN, timeout=60)

    async def __aenter__(self) -> Self:
        """Read the list of guides, the guide about agents, and the API's document, to which that one leads."""
        await super().__aenter__()
        listed = (await self.get("/docs")).text
        about = re.search(r"\[[^\]]*[Aa]gents[^\]]*\]\(([^)]+)\)", listed)
        assert about
        guide = (await self.get(urljoin("/docs/", about[1]))).text
        named = re.search(r"`(/\S+\.json)`", guide)
        assert named
        self.document = (await self.get(named[1])).json()
        return self

    def find(self, method: str, says: str) -> str:
        """Return the path of the only operation for agents with this method whose summary says this."""
        [path] = [
            path
            for path, operations in self.document["paths"].items()
            if says in operations.get(method.lower(), {}).get("summary", "")
            and any("agentKey" in each for each in operations[method.lower()]["security"])
        ]
        return str(path)

    async def do(self, method: str, says: str, body: Any = None, **named: Any) -> Any:
        """Perform an operation; ids go into its path, the rest into its query or, if it says so, a header."""
        path = self.find(method, says)
        ids = {name: named.pop(name) for name in re.findall(r"{(\w+)}", path)}
        described = self.document["paths"][path][method.lower()].get("parameters", ())
        place = {each["name"]: each["in"] for each in described}
        query = {name: value for name, value in named.items() if place[name] == "query"}
        headers = {name: value for name, value in named.items() if place[name] == "header"}
        response = await self.request(method, path.format(**ids), json=body, params=query, headers=headers)
        assert response.is_success, response.text
        return response.json()

    async def falling_margin(self) -> Any:
        """Return the id of the program whose commissions take the most from its revenue, and more than before."""
        fallen = {}
        for program in (await self.do("GET", "programs that you may read"))["data"]:
            found = await self.do("GET", "totals, metrics and trends", program_id=program["id"], period="30d")
            shares = [
                commission / max(revenue, 1)
                for commission, revenue in (
                    (found["metrics"]["totalPartnersCommission"], found["metrics"]["totalRevenue"]),
                    (found["metrics"]["commissionTrend"]["previous"], found["metrics"]["revenueTrend"]["previous"]),
                )
            ]
            fallen[program["id"]] = shares[0] - shares[1]
        return max(fallen, key=lambda each: fallen[each])
