"""The prompt texts, as files beside this one."""
