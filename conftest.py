"""The test run of this repository: pytest's own tester for plugins, on one set of modules.

pytester forgets what its inner runs import first. A second run would then import them again, at
0.6 s a time, beside the classes of the first; so all of ours is imported here.
"""

from __future__ import annotations

import importlib
import pkgutil

import staticfire

pytest_plugins = ["pytester"]

for module in pkgutil.walk_packages(staticfire.__path__, "staticfire."):
    if not module.name.endswith(("__main__", "llamacpp_server")):
        importlib.import_module(module.name)
