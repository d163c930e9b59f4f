"""`perform`, the one way to do something to a prompt, and what its shells share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.prompts.request import PromptRef

if TYPE_CHECKING:
    from foldline.ide.prompts.action import Action, AnswerT
    from foldline.ide.workspace import Workspace


async def perform(
    workspace: Workspace, subject: PromptRef | str | None, action: Action[AnswerT]
) -> AnswerT:
    """Perform an action on a prompt, or on a preview by its id, the last one if None.

    A prompt's code runs only where the workspace is trusted, and no longer than its
    `render_deadline`.

    ```python
    state = await perform(workspace, PromptRef(uri=uri), PreviewPrompt())
    state = await perform(workspace, state.sessionId, OpenSections(section_keys=("rules",)))
    ```

    Raises:
        IdeError: There is no such prompt or preview, or it can't be done; nothing has changed.
        BackendError: A file can't be read.
    """
    if isinstance(subject, PromptRef):
        return await action.on_prompt(workspace, subject)
    return await action.on_preview(workspace.previews, subject)
