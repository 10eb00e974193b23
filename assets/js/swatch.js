/* A small picture for a product, drawn from its type and colour: no file, no network. */
window.ecom.swatch = (() => {
  "use strict";
  const { svg } = window.ecom;

  // The first colour word found in the product names its paint.
  const PAINT = {
    black: "#2b2d31",
    charcoal: "#41464d",
    graphite: "#4b5058",
    grey: "#8b9098",
    gray: "#8b9098",
    silver: "#b8bdc4",
    white: "#e9e9e4",
    ivory: "#e8e2d0",
    cream: "#e6dcc2",
    beige: "#d3bf9b",
    sand: "#d0b98e",
    natural: "#c9a873",
    tan: "#c19a6b",
    brown: "#7a5236",
    walnut: "#6b4a33",
    oak: "#b08d57",
    bamboo: "#c2a25c",
    wood: "#a9814f",
    red: "#b53a3a",
    crimson: "#a3243b",
    burgundy: "#722f3a",
    coral: "#e0735c",
    pink: "#d98aa4",
    rose: "#c9708a",
    orange: "#d27b2c",
    copper: "#b06f43",
    bronze: "#96703d",
    gold: "#c2993a",
    yellow: "#d9b53a",
    mustard: "#c49a2b",
    olive: "#76793f",
    green: "#3f8a55",
    sage: "#8ea383",
    mint: "#86bfa3",
    teal: "#2f8583",
    turquoise: "#3aa3a3",
    blue: "#3a68b0",
    navy: "#27375f",
    sky: "#6f9fce",
    indigo: "#46478f",
    purple: "#75508f",
    lavender: "#9d8fc0",
    violet: "#75508f",
    steel: "#7d8a96",
    glass: "#a6c3c7",
    ceramic: "#cdbfae",
    plum: "#6d3a5d",
    cobalt: "#2f52a0",
    slate: "#5f6b78",
    emerald: "#2c7d5b",
    khaki: "#a39a6b",
    maroon: "#6b2737",
    peach: "#e2a988",
    amber: "#c98b2b",
  };

  // Nouns → one outline on a 24 × 24 grid.
  const SHAPES = [
    ["boot shoe sneaker sandal slipper loafer", "M3 15v-4l4 1 3-5 3 2-1 3 7 2c2 .6 3 1.600 3 3v1H3z"],
    [
      "shirt hoodie sweater jacket vest coat dress top tank pajama scarf blouse",
      "M8 3 3 6l2 5 2-1v11h10V10l2 1 2-5-5-3c-1 2-2.500 3-4 3S9 5 8 3z",
    ],
    ["jean pant short sock legging skirt", "M6 3h12l1 18h-5l-2-11-2 11H5z"],
    ["belt wallet beanie hat glove", "M2 9h20v6H2zM9 8v8h6V8zm2 2h2v4h-2z"],
    [
      "bag backpack tote luggage suitcase purse carrier box cooler hamper basket",
      "M4 9h16l-1 12H5zM8 9V7a4 4 0 0 1 8 0v2h-2V7a2 2 0 0 0-4 0v2z",
    ],
    [
      "charger cable adapter hub plug battery bank starter inflator router station drive",
      "M8 2v6H6v5a6 6 0 0 0 5 5.900V22h2v-3.100A6 6 0 0 0 18 13V8h-2V2h-2v6h-4V2z",
    ],
    [
      "headphone earbud speaker soundbar radio microphone headset",
      "M4 13a8 8 0 0 1 16 0v6h-4v-7h2a6 6 0 0 0-12 0h2v7H4z",
    ],
    ["phone tablet reader case holder mount remote", "M7 2h10v20H7zM9 5v12h6V5zM11 19h2v1h-2z"],
    [
      "camera cam webcam projector",
      "M3 7h4l2-3h6l2 3h4v13H3zM12 9a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zm0 2a2.500 2.500 0 1 1 0 5 2.500 2.500 0 0 1 0-5z",
    ],
    [
      "monitor laptop computer keyboard mouse screen tv whiteboard frame printer",
      "M4 4h16v12H4zM6 6v8h12V6zM2 18h20v2H2z",
    ],
    [
      "mug cup kettle saucepan pot can teapot grinder maker coffee tea",
      "M4 8h13v3h2a3 3 0 0 1 0 6h-2.300A5 5 0 0 1 12 21H9a5 5 0 0 1-5-5zM17 13v2h2a1 1 0 0 0 0-2zM8 2h1v4H8zm4 0h1v4h-1z",
    ],
    ["pan fryer bowl plate board scale cooker oven toaster mixer", "M2 9h13v2h7v2h-7a5 5 0 0 1-5 6H7a5 5 0 0 1-5-6z"],
    [
      "blender juicer bottle sauce oil shampoo perfume serum humidifier purifier honey",
      "M10 2h4v5l3 3v12H7V10l3-3zM9 12v6h6v-6z",
    ],
    ["lamp light headlamp candle bulb lantern", "M9 3h6l4 9H5zM11 12h2v7h3v2H8v-2h3z"],
    ["chair stool sofa seat stroller bench", "M6 3h2v9h8V9h2v12h-2v-5H8v5H6z"],
    ["table desk nightstand shelf bookshelf rack stand organizer crib furniture", "M2 6h20v3h-2v11h-3V9H7v11H4V9H2z"],
    [
      "bed mattress pillow blanket towel rug mat cover duvet curtain pad hammock",
      "M2 6h3v6h14a3 3 0 0 1 3 3v5h-2v-3H4v3H2zM6 8h5v3H6z",
    ],
    [
      "toy game puzzle plush kite block doll car set",
      "M12 2 15 8l6.500 1-4.700 4.600L18 20l-6-3.200L6 20l1.200-6.400L2.500 9 9 8z",
    ],
    [
      "book notebook paper pen stapler shredder label",
      "M5 3h12a2 2 0 0 1 2 2v16H7a2 2 0 0 1-2-2zM8 6v2h8V6zm0 4v2h8v-2z",
    ],
    ["tent umbrella sleeping stove pole", "M12 3 2 20h20zM12 10l5 8H7z"],
    [
      "ball racket dumbbell bike rope band helmet gym gun",
      "M2 9h3v6H2zm17 0h3v6h-3zM6 7h3v10H6zm9 0h3v10h-3zM9 11h6v2H9z",
    ],
    [
      "cream lipstick sunscreen polish lotion soap brush toothbrush shaver dryer",
      "M10 2h4v4h-4zM7 8h10v13H7zM9 11v4h6v-4z",
    ],
    ["chocolate bean pasta mix powder snack food feeder litter", "M5 7h14l-1 14H6zM9 3h6l1 3H8z"],
    [
      "drill screwdriver hammer wrench saw shear mower ladder hose paint tape tool knife vacuum kit",
      "M14 3a5 5 0 0 0-4.600 7L3 16.400 7.600 21 14 14.600A5 5 0 0 0 20.500 8L17 11l-3-1-1-3 3-3.500z",
    ],
    [
      "watch smartwatch clock ring thermometer",
      "M8 2h8l1 5a7 7 0 0 1 0 10l-1 5H8l-1-5A7 7 0 0 1 7 7zm4 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
    ],
    [
      "dog cat pet aquarium tree leash bird",
      "M7 10a2 2.500 0 1 1 0-5 2 2.500 0 0 1 0 5zm10 0a2 2.500 0 1 1 0-5 2 2.500 0 0 1 0 5zM12 11c3 0 6 4 6 7s-3 3-6 2c-3 1-6 1-6-2s3-7 6-7z",
    ],
    ["sunglasses glasses", "M2 9h20v3a5 5 0 0 1-9 2.500h-2A5 5 0 0 1 2 12z"],
  ];
  const NOUNS = new Map(SHAPES.flatMap(([nouns, path]) => nouns.split(" ").map((noun) => [noun, path])));
  const BOX = "M12 2 21 6v12l-9 4-9-4V6zM12 4.200 6.500 6.600 12 9l5.500-2.400zM5 8.300v8.400l6 2.700v-8.400z";

  function hue(text) {
    let sum = 0;
    for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) % 360;
    return sum;
  }

  const split = (text) =>
    String(text || "")
      .toLowerCase()
      .split(/[^a-z]+/)
      .filter(Boolean);

  // In a name such as "camping chair" the last word says most. The type speaks before title and category.
  function outline(product) {
    for (const text of [product.type, product.title, product.category]) {
      for (const word of split(text).reverse()) {
        const path = NOUNS.get(word) || NOUNS.get(word.replace(/s$/, ""));
        if (path) return path;
      }
    }
    return BOX;
  }

  return function swatch(product) {
    const word = split(`${product.color || ""} ${product.title || ""}`).find((candidate) =>
      Object.hasOwn(PAINT, candidate),
    );
    const paint = word ? PAINT[word] : `hsl(${hue(String(product.type || product.title || ""))} 32% 52%)`;
    return svg(
      "svg",
      { viewBox: "0 0 24 24", class: "ec-swatch", "aria-hidden": "true", focusable: "false" },
      svg("path", { d: outline(product), fill: paint, "fill-rule": "evenodd" }),
    );
  };
})();
