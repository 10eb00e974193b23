"""EcomRLVE: generated, solvable, verified e-commerce conversations for shopping agents.

`make` gives an environment with Gymnasium's `reset` and `step`. Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Environment", "__version__", "make"]

if TYPE_CHECKING:
    from ecomrlve.environment import Environment, make


def __getattr__(name: str) -> Any:
    if name in ("Environment", "make"):
        from ecomrlve import environment

        return getattr(environment, name)
    raise AttributeError(f"module 'ecomrlve' has no attribute {name!r}")
