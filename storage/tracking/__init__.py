"""What integrators report: clicks, leads, sales and refunds, and the customers, ledger and rollups they change."""
