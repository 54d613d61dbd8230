"""Storage that pods ask for: claims, the volumes behind them, and who uses what on which node."""
