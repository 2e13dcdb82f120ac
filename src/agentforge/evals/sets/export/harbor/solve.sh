#!/bin/bash
cp -r /solution/reference/. /app/
