"""Scorers made of steps: `create_scorer`, its runs and its errors. Below the built-in scorers."""
