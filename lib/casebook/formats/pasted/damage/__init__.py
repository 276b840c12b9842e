"""Pastes as pages, chats, shells and terminals leave them: changes to an output on its way are undone here."""
