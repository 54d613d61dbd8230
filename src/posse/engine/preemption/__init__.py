"""Making room by evicting what matters less: who may be evicted, where that helps, and which choice hurts least."""
