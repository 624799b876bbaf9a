"""What signed-in members do: sessions, programs, keys, partners, customers, commissions, events, performance."""
