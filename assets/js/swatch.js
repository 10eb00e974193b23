/* A small picture for a product, drawn from its type and colour: no file, no network. */
window.ecom.swatch = (() => {
  "use strict";
  const { svg } = window.ecom;

  // The first colour word found in the product names its paint.
  const PAINT = {
    black: "#2b2d31", charcoal: "#41464d", graphite: "#4b5058", grey: "#8b9098", gray: "#8b9098", silver: "#b8bdc4",
    white: "#e9e9e4", ivory: "#e8e2d0", cream: "#e6dcc2", beige: "#d3bf9b", sand: "#d0b98e", natural: "#c9a873",
    tan: "#c19a6b", brown: "#7a5236", walnut: "#6b4a33", oak: "#b08d57", bamboo: "#c2a25c", wood: "#a9814f",
    red: "#b53a3a", crimson: "#a3243b", burgundy: "#722f3a", coral: "#e0735c", pink: "#d98aa4", rose: "#c9708a",
    orange: "#d27b2c", copper: "#b06f43", bronze: "#96703d", gold: "#c2993a", yellow: "#d9b53a", mustard: "#c49a2b",
    olive: "#76793f", green: "#3f8a55", sage: "#8ea383", mint: "#86bfa3", teal: "#2f8583", turquoise: "#3aa3a3",
    blue: "#3a68b0", navy: "#27375f", sky: "#6f9fce", indigo: "#46478f", purple: "#75508f", lavender: "#9d8fc0",
    violet: "#75508f", steel: "#7d8a96", glass: "#a6c3c7", ceramic: "#cdbfae",
  };

  // Word stems in type or category → one outline on a 24 × 24 grid.
  const SHAPES = [
    [/shoe|sneaker|boot|sandal|slipper|loafer/, "M3 15v-4l4 1 3-5 3 2-1 3 7 2c2 .6 3 1.600 3 3v1H3z"],
    [/shirt|top|tee|dress|jacket|coat|sweater|hoodie|cloth|apparel|fashion|jean|pant|skirt|sock|blouse/,
      "M8 3 3 6l2 5 2-1v11h10V10l2 1 2-5-5-3c-1 2-2.500 3-4 3S9 5 8 3z"],
    [/bag|pack|luggage|suitcase|tote|wallet|purse/, "M4 9h16l-1 12H5zM8 9V7a4 4 0 0 1 8 0v2h-2V7a2 2 0 0 0-4 0v2z"],
    [/charger|cable|adapter|power|plug|battery|hub/, "M8 2v6H6v5a6 6 0 0 0 5 5.900V22h2v-3.100A6 6 0 0 0 18 13V8h-2V2h-2v6h-4V2z"],
    [/head|ear|speaker|audio|sound/, "M4 13a8 8 0 0 1 16 0v6h-4v-7h2a6 6 0 0 0-12 0h2v7H4z"],
    [/phone|tablet|case/, "M7 2h10v20H7zM9 5v12h6V5zM11 19h2v1h-2z"],
    [/laptop|computer|monitor|keyboard|mouse|screen|desk.?top|electronic/, "M4 4h16v12H4zM6 6v8h12V6zM2 18h20v2H2z"],
    [/pan|pot|cook|fryer|kettle|kitchen|mug|cup|bowl|plate|bottle|blender|coffee|tea/,
      "M4 8h13v3h2a3 3 0 0 1 0 6h-2.300A5 5 0 0 1 12 21H9a5 5 0 0 1-5-5zM17 13v2h2a1 1 0 0 0 0-2zM8 2h1v4H8zm4 0h1v4h-1z"],
    [/lamp|light|candle|bulb/, "M9 3h6l4 9H5zM11 12h2v7h3v2H8v-2h3z"],
    [/chair|sofa|table|desk|shelf|furniture|bed|mattress|stool/, "M6 3h2v9h8V9h2v12h-2v-5H8v5H6z"],
    [/toy|game|puzzle|doll|kid|baby/, "M12 2 15 8l6.500 1-4.700 4.600L18 20l-6-3.200L6 20l1.200-6.400L2.500 9 9 8z"],
    [/book|note|paper|pen|office|station/, "M5 3h12a2 2 0 0 1 2 2v16H7a2 2 0 0 1-2-2zM8 6v2h8V6zm0 4v2h8v-2z"],
    [/tent|camp|sleep|outdoor|hik|garden|plant/, "M12 3 2 20h20zM12 10l5 8H7z"],
    [/ball|sport|yoga|fitness|dumbbell|bike|gym|mat/, "M2 9h3v6H2zm17 0h3v6h-3zM6 7h3v10H6zm9 0h3v10h-3zM9 11h6v2H9z"],
    [/cream|shampoo|beauty|skin|soap|perfume|brush|lotion|serum/, "M10 2h4v4h-4zM7 8h10v13H7zM9 11v4h6v-4z"],
    [/food|snack|grocery|chocolate|pet|dog|cat/, "M5 7h14l-1 14H6zM9 3h6l1 3H8z"],
    [/tool|drill|hammer|screw|wrench|saw/, "M14 3a5 5 0 0 0-4.600 7L3 16.400 7.600 21 14 14.600A5 5 0 0 0 20.500 8L17 11l-3-1-1-3 3-3.500z"],
    [/watch|clock|ring|jewel|necklace/, "M8 2h8l1 5a7 7 0 0 1 0 10l-1 5H8l-1-5A7 7 0 0 1 7 7zm4 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8z"],
  ];
  const BOX = "M12 2 21 6v12l-9 4-9-4V6zM12 4.200 6.500 6.600 12 9l5.500-2.400zM5 8.300v8.400l6 2.700v-8.400z";

  function hue(text) {
    let sum = 0;
    for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) % 360;
    return sum;
  }

  // The most specific field that names a shape wins: the type before the title.
  return function swatch(product) {
    const type = String(product.type || "").toLowerCase();
    const texts = [type, String(product.title || "").toLowerCase(), String(product.category || "").toLowerCase()];
    const shape = texts.map((text) => SHAPES.find(([pattern]) => pattern.test(text))).find(Boolean);
    const words = `${product.color || ""} ${product.title || ""}`.toLowerCase().split(/[^a-z]+/);
    const word = words.find((candidate) => Object.hasOwn(PAINT, candidate));
    const paint = word ? PAINT[word] : `hsl(${hue(type || texts[1])} 32% 52%)`;
    return svg("svg", { viewBox: "0 0 24 24", class: "ec-swatch", "aria-hidden": "true", focusable: "false" },
      svg("path", { d: shape ? shape[1] : BOX, fill: paint, "fill-rule": "evenodd" }));
  };
})();
