"""The tests. Importing what they test makes objects that stay: looking through them again took a tenth of each test."""

import gc

gc.set_threshold(50_000, 20, 100)
