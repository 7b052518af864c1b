"""Tasks in KramaBench's format: `workload/DOMAIN.json`, and data in `data/DOMAIN/input`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter


class Subtask(BaseModel):
    """A question with its answer, and the files that it needs, by their paths or as patterns."""

    id: str
    step: str = ""
    query: str
    answer: Any
    answer_type: str
    data_sources: tuple[str, ...] = ()


class Task(Subtask):
    """A question, and those that lead to its answer."""

    subtasks: tuple[Subtask, ...] = ()


def read_tasks(folder: Path, domain: str) -> Sequence[Task]:
    """Return a domain's tasks, as recorded: the answers of the published ones are not all right.

    Raises:
        ValueError: The file is of another form.
    """
    text = (folder / "workload" / f"{domain}.json").read_bytes()
    return TypeAdapter(list[Task]).validate_json(text)


def files_of(task: Subtask, folder: Path, domain: str) -> dict[str, list[Path]]:
    """Return of each of a task's data sources the files that there are."""
    data = folder / "data" / domain / "input"
    return {one: sorted(data.glob(one)) for one in task.data_sources}
