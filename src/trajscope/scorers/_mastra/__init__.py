"""The reference's scorers, bit for bit, on plain JSON values: what `compat="mastra"` runs."""
