"""Records what integrators report (clicks, leads, sales, refunds) and updates customers, the ledger and the rollups."""
