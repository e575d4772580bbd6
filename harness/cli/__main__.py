# SPDX-License-Identifier: BSD-3-Clause
"""`python -m harness.cli COMMAND ...`: what run.py starts in its environment."""

import sys

from harness.cli.main import main

sys.exit(main())
