"""What the dashboard and the agent API do alike, whoever asks: each app says in its route table who may."""
