"""Finding out why an episode failed, one module per kind of wish; `ecomrlve.evaluation.failures` is the way in."""
