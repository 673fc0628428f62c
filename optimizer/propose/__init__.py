"""Where new candidates come from."""
