"""Runs Vowpal Wabbit with the options given and prints the processor seconds of all its threads.

Not those of starting Python and importing the package.
"""

import sys
import time

import vowpalwabbit

begun = time.process_time()
vowpalwabbit.Workspace(arg_list=sys.argv[1:]).finish()
print(time.process_time() - begun)
