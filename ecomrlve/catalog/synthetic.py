"""The generated catalog: invented products in families of lookalikes, for every department in `goods/`.

Whatever a customer wants has near misses in its family, and no member stands out as the one the others were made from.
All numbers come from keyed hashes and streams: the same size and seed give the same catalog in every process, whether
it is made in memory or written to a folder. Catalogs above 10,000 products grow as `growth` says.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.departments import BrandSpec, Goods, read_goods
from ecomrlve.catalog.growth import EVEN_SIZE, GrowthPlan
from ecomrlve.catalog.product_families import TypeProducts
from ecomrlve.errors import CatalogError, SeedError
from ecomrlve.streams import key_of, unit_hashes

DEFAULT_SIZE = 10_000
SMALLEST, LARGEST = 1_000, 2_000_000


def generate(size: int = DEFAULT_SIZE, seed: int = 0, folder: Path | None = None) -> Catalog:
    """Generate a catalog in memory.

    Args:
        size: How many products, 1,000 to 2,000,000. Up to 10,000 there are about equally many of each type.
        seed: Which catalog of that size.
        folder: Department files to use in place of the package's own.

    Returns:
        The catalog, called ``default`` for the default size and seed.

    Raises:
        CatalogError: A size out of range, or department files that do not fit together.
        SeedError: A seed that is no whole number from 0 to 2**63 - 1.
    """
    _check(size, seed)
    if size > EVEN_SIZE:
        plan = GrowthPlan(size, seed, folder)
        records = [record for number in range(len(plan.chunks)) for record in plan.records(number)]
        return Catalog.from_records(records, **_about(plan.goods, size, seed, plan.families, plan.brands))
    goods = read_goods(folder)
    brands = {department.department: department.brands for department in goods.departments}
    types = goods.types()
    if size < len(types):
        raise CatalogError(f"{size:,} products are too few for {len(types):,} types")
    records = []
    families = 0
    for place, (department, kind) in enumerate(types):
        count = size // len(types) + (place < size % len(types))
        made = TypeProducts(goods, kind, brands[department.department], count, seed)
        records += made.records((department.department, *kind.category), families)
        families += len(made.families)
    order = np.argsort(unit_hashes(key_of("goods", "order", seed), np.arange(size)), kind="stable")
    about = _about(goods, size, seed, families, brands)
    if folder is None and size == DEFAULT_SIZE and seed == 0:
        about["name"] = "default"
    return Catalog.from_records([records[row] for row in order], **about)


def generate_folder(
    size: int,
    folder: str | Path,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: bool = False,
    departments: Path | None = None,
) -> Catalog:
    """Generate a catalog on disk: the products of `generate`, in the same order, whatever the number of processes.

    A run that was killed is gone on with by calling this again with the same arguments.

    Args:
        size: How many products, 1,000 to 2,000,000.
        folder: The catalog folder to make; beside it, one whose name ends in ``.part`` holds what is done so far.
        seed: Which catalog of that size.
        workers: Processes that make products; as many as there are CPUs where None, and 1 for this one alone.
        progress: Whether to show a bar.
        departments: Department files to use in place of the package's own.

    Returns:
        The catalog, opened from its folder.

    Raises:
        CatalogError: As `generate`; or the folder is there already; or the one beside it is of another catalog.
        SeedError: As `generate`.
    """
    from tqdm import tqdm

    from ecomrlve.catalog.chunks import chunk_numbers, claim_part, part_folder
    from ecomrlve.catalog.store import finish, save_catalog

    _check(size, seed)
    folder = Path(folder)
    if folder.exists():
        raise CatalogError(f"{folder} is there already; remove it or choose another name")
    if size <= EVEN_SIZE:
        return save_catalog(generate(size, seed, departments), folder)
    plan = GrowthPlan(size, seed, departments)
    about = _about(plan.goods, size, seed, plan.families, plan.brands)
    part = part_folder(folder)
    # Department files that were changed in between would make other products with the same names.
    claim_part(part, {"name": about["name"], "goods": f"{key_of(repr(plan.goods)):016x}"})
    missing = sorted(set(range(len(plan.chunks))) - set(chunk_numbers(part)))
    made = tqdm(total=size, desc="products", unit="", unit_scale=True, disable=not progress, leave=False)
    made.update(size - sum(plan.chunks[number].count for number in missing))
    with made:
        for count in _written(plan, part, missing, _cpus() if workers is None else workers):
            made.update(count)
    return finish(part, folder, **about)


def _check(size: Any, seed: Any) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or not SMALLEST <= size <= LARGEST:
        raise CatalogError(f"a generated catalog has {SMALLEST:,} to {LARGEST:,} products, not {size!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise SeedError(f"a seed is a whole number from 0 to 2**63 - 1, not {seed!r}")


def _about(
    goods: Goods, size: int, seed: int, families: int, brands: Mapping[str, Sequence[BrandSpec]]
) -> dict[str, Any]:
    """All that a catalog is told besides its products."""
    types = goods.types()
    return {
        "name": f"generated-{size}-{seed}",
        "attributes": goods.attributes,
        "variant_rules": {kind.name: (kind.variant.attribute, kind.variant.values) for _, kind in types},
        "card": {
            "source": ["generated"], "seed": seed, "read": size, "kept": size, "dropped": {}, "synthesized": [],
            "departments": len(goods.departments), "types": len(types), "families": families,
            "brands": sum(map(len, brands.values())), "notes": ["All products, brands and texts are invented."],
        },
    }  # fmt: skip


def _cpus() -> int:
    """How many CPUs this process may use, which in a container are fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _written(plan: GrowthPlan, part: Path, numbers: Sequence[int], workers: int) -> Iterator[int]:
    """Writes chunks, here or in processes; yields the number of products of each as it is done."""
    workers = min(workers, len(numbers))
    if workers <= 1:
        for number in numbers:
            yield _write(plan, part, number)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin, (plan, part)) as pool:
        futures = [pool.submit(_write_shared, number) for number in numbers]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _write(plan: GrowthPlan, part: Path, number: int) -> int:
    """Makes and writes one chunk; returns how many products it has."""
    from ecomrlve.catalog.chunks import write_chunk

    records = plan.records(number)
    write_chunk(part, number, records)
    return len(records)


# In a worker: the plan and the folder that it writes to.
_shared: list[tuple[GrowthPlan, Path]] = []


def _begin(plan: GrowthPlan, part: Path) -> None:
    """In a new worker: remember what to do, and end when the process that started it is killed.

    Left alone, a worker would wait for its next chunk for ever.
    """
    _shared[:] = [(plan, part)]
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _write_shared(number: int) -> int:
    return _write(*_shared[0], number)
