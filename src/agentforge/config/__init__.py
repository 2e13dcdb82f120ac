"""Settings in layers, where things live, which model is asked, which contracts apply."""
