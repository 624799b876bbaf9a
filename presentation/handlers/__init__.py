"""Handlers that the dashboard API and the agent API share; each app's route table says who may call them."""
