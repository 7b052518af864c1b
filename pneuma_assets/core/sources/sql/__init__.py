"""Databases and warehouses by their SQL: one module an engine, all behind `dialect.Dialect`."""
