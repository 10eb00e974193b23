"""Widgets that draw themselves in the browser; their scripts are in assets/js."""

from components.widgets.base import Widget
from components.widgets.cart_panel import CartPanel
from components.widgets.controls import Controls
from components.widgets.desk import Desk
from components.widgets.episode_table import EpisodeTable
from components.widgets.help_pages import HelpPages
from components.widgets.meters import Meters
from components.widgets.notice import Notice
from components.widgets.orders_panel import OrdersPanel
from components.widgets.product_cards import ProductCards
from components.widgets.profile_panel import ProfilePanel
from components.widgets.returns_panel import ReturnsPanel
from components.widgets.reward_waterfall import RewardWaterfall
from components.widgets.timeline import Timeline
from components.widgets.tool_form import ToolForm

__all__ = [
    "CartPanel",
    "Controls",
    "Desk",
    "EpisodeTable",
    "HelpPages",
    "Meters",
    "Notice",
    "OrdersPanel",
    "ProductCards",
    "ProfilePanel",
    "ReturnsPanel",
    "RewardWaterfall",
    "Timeline",
    "ToolForm",
    "Widget",
]
