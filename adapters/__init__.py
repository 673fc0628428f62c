"""How a candidate is run: records, data, model clients and adapters."""
