"""What documents say of columns, a module a form; `narration.written` finds the columns meant."""
