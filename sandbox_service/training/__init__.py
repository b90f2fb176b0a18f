"""PPO and GRPO from rewards that the service gives. Knows only the client."""
