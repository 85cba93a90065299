"""Which process does which tests: those of a file, or of a folder that shares something costly, at a stretch."""

from xdist.scheduler import LoadScopeScheduling

# Folders whose tests share something costly. They belong to one process, and begin first.
SHARED = ("tests/e2e/embedded/", "tests/e2e/", "tests/lab/")


class Stretches(LoadScopeScheduling):
    """As its base, which would wait for ever after a process has died."""

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in SHARED if nodeid.startswith(folder)), nodeid.partition("::")[0])

    def remove_node(self, node):
        # All that the dead process was ever given is handed out anew. Who got what is done already would never be heard
        # of again, and so never be given more.
        stretches = self.assigned_work[node]
        self.assigned_work[node] = {scope: tests for scope, tests in stretches.items() if not all(tests.values())}
        return super().remove_node(node)
