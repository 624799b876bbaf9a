"""Customers: found, sorted, added up and exported as CSV."""

from storage.lists.customers import CUSTOMERS
from tracking_api.dashboard.pages.lists import ListPage

CUSTOMER_LIST = ListPage(CUSTOMERS, "customers.html")
