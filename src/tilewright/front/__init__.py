"""The verbs a user calls, and what stands behind them: load, compile, tune, plan, advise."""
