"""Tool names: the raw name a model calls, and the server and bare name inside it.

One thing a newcomer would get wrong: the raw name is always kept; server and bare name are aliases
that matching may use. Only `mcp__server__tool` says by itself that it has a server; in
`server_tool`, `server.tool` and `server-tool` the prefix counts only when the server is known.
"""

from __future__ import annotations

import re

_MCP = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)", re.DOTALL)
_MCP_SINGLE = re.compile(r"mcp_(?!_)(?P<rest>.+)", re.DOTALL)
_SEPARATORS = ("__", ".", "_", "-", "/", ":")


def mcp_parts(name: str) -> tuple[str, str] | None:
    """Return server and bare name of an `mcp__server__tool` name, else None.

    >>> mcp_parts("mcp__github__create_issue")
    ('github', 'create_issue')
    >>> mcp_parts("create_issue") is None
    True
    """
    match = _MCP.fullmatch(name)
    return (match["server"], match["tool"]) if match else None


def bare_name(name: str, server: str | None = None) -> str:
    """Return the tool's own name, without the server's prefix.

    >>> bare_name("mcp_github_create_issue", "github"), bare_name("github.create_issue", "github")
    ('create_issue', 'create_issue')
    >>> bare_name("create_issue_comment")
    'create_issue_comment'
    """
    if (parts := mcp_parts(name)) is not None:
        return parts[1]
    if server:
        single = _MCP_SINGLE.fullmatch(name)
        for text in (name, single["rest"]) if single else (name,):
            for separator in _SEPARATORS:
                prefix = server + separator
                if text.lower().startswith(prefix.lower()) and len(text) > len(prefix):
                    return text[len(prefix) :]
    return name


def aliases(name: str, server: str | None = None) -> tuple[str, ...]:
    """Return the names a tool may be matched by: the raw name first, then the bare one.

    >>> aliases("mcp__github__create_issue")
    ('mcp__github__create_issue', 'create_issue')
    """
    bare = bare_name(name, server)
    return (name,) if bare == name else (name, bare)


def same_tool(one: str, other: str, server: str | None = None) -> bool:
    """Whether two recorded names are one tool's, with or without its server's prefix.

    >>> same_tool("mcp__calc__add", "add"), same_tool("calc_add", "add", "calc")
    (True, True)
    >>> same_tool("create_issue", "create_issue_comment")
    False
    """
    return one == other or bare_name(one, server) == bare_name(other, server)


def ends_with_tool(name: str, tool: str) -> bool:
    """Whether `name` is `tool` behind some prefix and a separator: `calc_add` and `add`."""
    return bool(tool) and any(name.endswith(separator + tool) for separator in _SEPARATORS)
