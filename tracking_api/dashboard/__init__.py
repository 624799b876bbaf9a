"""The dashboard: sessions, programs, keys, partners, customers, commissions, events, performance."""
