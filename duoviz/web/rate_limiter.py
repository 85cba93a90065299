"""How often something may happen: a few times at once, then at a steady rate, each in its turn."""

# Keys whose turn has come long ago are forgotten when there are more than this.
MANY = 1000


class RateLimiter:
    """rate: times a second, for each key. burst: how many may come at once. longest: seconds that one waits at most."""

    def __init__(self, rate: float, burst: int = 1, longest: float = 30.0):
        self.step, self.burst, self.longest = 1 / rate, burst, longest
        # For each key when the next one would be due, had there been no burst.
        self.due: dict[str, float] = {}

    def delay(self, key: str, now: float, cost: float = 1) -> float | None:
        """Seconds until the next turn of this key, which is taken, or so many; None where that is too long."""
        due = max(self.due.get(key, now), now)
        delay = max(0.0, due - (self.burst - 1) * self.step - now)
        if delay > self.longest:
            return None
        self.due[key] = due + self.step * cost
        if len(self.due) > MANY:
            self.due = {name: time for name, time in self.due.items() if time > now}
        return delay
