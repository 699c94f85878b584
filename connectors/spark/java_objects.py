"""The Java objects behind those of PySpark. No other module uses private names of PySpark and Py4J."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark import SparkConf, SparkContext, StorageLevel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def java_frame(frame: DataFrame) -> Any:
    return frame._jdf


def java_execution(frame: DataFrame) -> Any:
    """Return a new reference to how Spark executes a DataFrame."""
    return java_frame(frame).queryExecution()


def java_classes(spark: Any) -> Any:
    """Return the root of all packages of the Java process."""
    return spark._jvm


def java_context(spark: Any) -> Any:
    """Return Scala's SparkContext."""
    return spark.sparkContext._jsc.sc()


def java_level(spark: Any, level: StorageLevel) -> Any:
    return spark.sparkContext._getJavaStorageLevel(level)


def start_java(options: Mapping[str, str]) -> Any:
    """Start the Java process with Spark's options, unless it runs; return the root of all its packages."""
    SparkContext._ensure_initialized(conf=SparkConf().setAll(list(options.items())))
    return SparkContext._jvm


def java_runs() -> bool:
    """Return whether this process has a Java process already."""
    return SparkContext._gateway is not None


def release(*held: Any) -> None:
    """Release Java objects that Py4J holds for Python; references between Java objects are not affected.

    Py4J releases an object by itself only when Python collects its proxy. That is late, because a proxy and its methods
    refer to each other: until Python's next cycle collection, Java holds the DataFrames of a hundred micro-batches,
    with the files, plans and broadcasts of each. By then they are old, and stay until Java's next full collection.
    """
    for one in held:
        one._detach()


def release_frames(*frames: DataFrame) -> None:
    """Release the Java objects behind DataFrames that are not used any more."""
    release(*map(java_frame, frames))


def observed_values(frame: DataFrame, name: str) -> Any:
    """Return the values that Spark has observed under a name while it computed a DataFrame."""
    execution = java_execution(frame)
    values = execution.observedMetrics().apply(name)
    release(execution)
    return values
