"""What the log of a broker's host tells of the end of its process: that the kernel killed one for want of memory."""

from casebook.analysis.timeline_rows import Point
from casebook.analysis.timeline_scene import Scene
from casebook.events import host_in


def killed(scene: Scene, broker: int | None, since: int, until: int) -> Point | None:
    """The last process that the kernel of a broker's host killed in a time; ``None`` where no line tells of one.

    Whether it was the broker its name does not say: a host may run more of Java.
    """
    own = [row for row in scene.kind("process_killed").between(since, until) if host_in(row.file) == broker]
    if broker is None or not own:
        return None
    process = f"process {own[-1].fields['pid']} ({own[-1].fields['name']})"
    return Point(f"The kernel of its host killed {process} for want of memory", own[-1].proof)
