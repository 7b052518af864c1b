"""What every door calls: the workspace, the status, what can be asked, and what to do if not."""
