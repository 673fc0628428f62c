"""Model clients: one request to one model, one completion back."""
