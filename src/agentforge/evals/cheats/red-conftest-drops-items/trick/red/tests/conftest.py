def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "shout" not in item.nodeid]
