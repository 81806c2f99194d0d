def run(seed: int | None) -> bool:
    return False
