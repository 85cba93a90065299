"""How signals end a process."""

import signal
from typing import Any

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def on_ending(handler: Any) -> None:
    """Handle these signals so, but for those that whoever started this process has it ignore, as nohup does."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
