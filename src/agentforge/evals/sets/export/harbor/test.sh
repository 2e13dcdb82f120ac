#!/bin/bash
mkdir -p /logs/verifier
if python3 /tests/judge.py /tests /app; then echo 1; else echo 0; fi > /tmp/reward
tail -n 1 /tmp/reward > /logs/verifier/reward.txt
