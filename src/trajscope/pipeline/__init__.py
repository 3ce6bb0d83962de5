"""Use cases: what the commands and other faces do, without printing. Joins the plug-ins.

One thing a newcomer would get wrong: nothing here prints or exits, and nothing below here opens a
store or looks for plug-ins by itself; this is where they are joined.
"""
