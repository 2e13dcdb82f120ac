"""What tests of several folders, and the benchmarks, share: a world to work in, servers on loopback, states, people, clocks."""
