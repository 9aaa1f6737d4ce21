#!/bin/sh
. scripts/find_python.sh # build_release.py puts the file itself here
