"""PPO, GRPO and SFT from rewards that the service gives.

May import `client`, `telemetry`, `schema` and `errors`; torch stays in this package.
"""
