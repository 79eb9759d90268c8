"""Gherkin for engines and routers: async steps, the step library, the feature collector."""
