"""The facts that each stage is judged by, gathered from git, test runs and checks."""
