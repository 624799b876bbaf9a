"""The tracking calls: click, lead, sale, refund, and the status of a program."""
