"""Lost records: which, when and why."""
