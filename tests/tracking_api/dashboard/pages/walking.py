"""A visitor of the dashboard whose clicks are counted."""

from dataclasses import dataclass

from playwright.async_api import Locator, Page


@dataclass
class Walk:
    """A visitor who begins on the program's overview, and how many clicks and searches they needed."""

    page: Page
    clicks: int = 0
    searches: int = 0

    async def click(self, what: Locator) -> None:
        await what.click()
        self.clicks += 1

    async def open(self, *titles: str) -> None:
        """Click a page of the program's menu, then what stands on it."""
        menu = self.page.get_by_role("navigation", name="Program", exact=True)
        await self.click(menu.get_by_role("link", name=titles[0]))
        for title in titles[1:]:
            await self.click(self.page.get_by_role("link", name=title))

    async def press(self, button: str) -> None:
        await self.click(self.page.get_by_role("button", name=button))
