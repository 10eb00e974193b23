"""The tools, by name. Importing this package registers all of them."""

from ecomrlve.tools import cart_tools, catalog_tools, order_tools, policy_tools, return_tools, user_tools
from ecomrlve.tools.base import REGISTRY, Tool, make_tool

__all__ = [
    "REGISTRY",
    "Tool",
    "cart_tools",
    "catalog_tools",
    "make_tool",
    "order_tools",
    "policy_tools",
    "return_tools",
    "user_tools",
]
