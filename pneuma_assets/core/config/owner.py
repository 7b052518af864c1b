"""Whose the state in a folder is, where that is a component of a Dagster project.

The command line does not read the project. A note in the state folder lets it say so, in place of
taking the deployment for one without sources.
"""

import json
import uuid
from dataclasses import dataclass

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.safe import printable

NOTE = "component.json"
_KEYS = ("component", "job")
_MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Owner:
    """The file of a component whose state is in a folder, and the name of its indexing job."""

    component: str
    job: str

    @property
    def command(self) -> str:
        """What indexes, in the component's project."""
        return f"dg launch --job {self.job}"


def note_owner(loaded: LoadedDeployment, job: str) -> None:
    """Note in the state folder whose it is; a deployment file that names it takes it over.

    Raises:
        ConfigError: It is a component's, and this deployment was found by the folder alone; or the
            note cannot be written.
    """
    check_unowned(loaded)
    note = loaded.home / NOTE
    text = json.dumps({"component": loaded.component, "job": job}) + "\n"
    try:
        if loaded.component is None:
            note.unlink(missing_ok=True)
        elif loaded.home.is_dir() and not (note.is_file() and note.read_text("utf-8") == text):
            fresh = note.with_name(f".{NOTE}-{uuid.uuid4().hex}")  # runs may do so at once
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(note)
    except OSError as error:
        raise ConfigError(
            f"{note} cannot be written ({error.strerror}); let this user write there"
        ) from error


def owner_of(loaded: LoadedDeployment) -> Owner | None:
    """Return the component that a state folder belongs to, for a deployment found by the folder.

    None for others. Raises `ConfigError` where there is a note that cannot be read.
    """
    by_folder = loaded.file is None or loaded.file.parent == loaded.home
    if loaded.component is not None or not by_folder:
        return None
    note = loaded.home / NOTE
    unreadable = ConfigError(
        f"{note} says which component this state is of, and cannot be read; remove it, and let the "
        "component's job run again"
    )
    try:
        with note.open("rb") as file:
            said = json.loads(file.read(_MAX_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable from error
    component, job = (said.get(key) if isinstance(said, dict) else "" for key in _KEYS)
    if not (isinstance(component, str) and isinstance(job, str) and component and job):
        raise unreadable
    return Owner(printable(component), printable(job))


def check_unowned(loaded: LoadedDeployment) -> None:
    """Raise `ConfigError` where a run would take a component's tables for gone."""
    owner = owner_of(loaded)
    if owner is not None:
        raise ConfigError(
            f"{loaded.home} is the state of the component in {owner.component}, which has its "
            f"sources; in that project run: {owner.command} (if the component is gone, remove "
            f"{loaded.home / NOTE})"
        )
