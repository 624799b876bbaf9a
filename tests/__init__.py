"""The tests; importing what they test makes objects that stay, which the collector need not look through again."""

import gc

gc.set_threshold(50_000, 20, 100)  # as the server has it: a tenth of what a test costs
