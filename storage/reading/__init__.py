"""What the surfaces show: performance, lists, the checklist and a program's status."""
